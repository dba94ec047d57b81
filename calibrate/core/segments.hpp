#pragma once
// A curve as one to three lines (CAL 4.3): contiguous segments of at least 3 points, each a line of
// its own, with the least total squared relative error S_k by dynamic programming. More segments
// must be worth it:
//
//   BIC(k) = N ln(max(S_k, N 1e-12) / N) + (3k - 1) ln N,   k + 1 only if lower by more than 6
//
// for N points (a difference of 2 still splits ten noisy points).
#include <cstddef>
#include <span>
#include <vector>

#include "calibrate/core/line_fit.hpp"
#include "net/profile/profile.hpp"

namespace stepsim::calibrate {

inline constexpr std::size_t kLeastPoints = 3;  // of a segment, where there are several
inline constexpr std::size_t kMostSegments = 3; // of measured times

struct Segmentation {
  std::vector<std::size_t> ends; // one behind the last point of each segment
  std::vector<Line> lines;       // as many
  double squares{};              // S_k
};

// Data in strictly ascending size. k = 1 takes 2 points, k > 1 needs 3 k (asserted).
[[nodiscard]] Segmentation best_segments(std::span<const Datum> data, std::size_t k);

struct SegmentChoice {
  std::vector<double> bic; // of k = 1, 2 .. most, as far as there are points
  Segmentation chosen;
};
// Tries 1, 2 .. `most` segments as far as there are 3 points for each, and keeps the last one that
// was worth it.
[[nodiscard]] SegmentChoice choose_segments(std::span<const Datum> data,
                                            std::size_t most = kMostSegments);

// The segments as a calibration file holds them: each from the size of its first point to the size
// of its last.
[[nodiscard]] std::vector<net::CurveSegment> curve_of(const Segmentation& segmentation,
                                                      std::span<const Datum> data);

} // namespace stepsim::calibrate
