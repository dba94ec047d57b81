#pragma once
// Fits one to three lines to a curve (CAL 4.3). The segments are contiguous, with at least 3 points
// each if there are several; dynamic programming finds the least sum S_k of squared relative errors
// of k segments. The number of segments is chosen by the Bayesian information criterion:
//
//   BIC(k) = N ln(max(S_k, N 1e-12) / N) + (3k - 1) ln N,   k only if lower by more than 6
//
// for N points, where "lower" is lower than the BIC of the number kept so far (a threshold of 2
// still splits ten noisy points).
#include <cstddef>
#include <span>
#include <vector>

#include "calibrate/core/line_fit.hpp"
#include "links/profile/profile.hpp"

namespace stepsim::calibrate {

inline constexpr std::size_t kLeastPoints = 3;  // least points of a segment if there are several
inline constexpr std::size_t kMostSegments = 3; // for measured times

struct Segmentation {
  std::vector<std::size_t> ends; // [segment] index after its last point
  std::vector<Line> lines;       // [segment]
  double squares{};              // S_k
};

// The best k segments of data in strictly ascending size. Needs 2 points for k = 1 and 3 k points
// for k > 1 (asserted).
[[nodiscard]] Segmentation best_segments(std::span<const Datum> data, std::size_t k);

struct SegmentChoice {
  std::vector<double> bic; // BIC of k = 1, 2 .. most, if there are enough points
  Segmentation chosen;
};
// Tries one segment, and 2 .. `most` while there are 3 points for each. Another segment is taken if
// the BIC falls by more than 6 below the BIC of the segments taken so far: BICs of 100, 96 and 92
// for one, two and three segments give three, because 96 is not enough below 100, and 92 is.
[[nodiscard]] SegmentChoice choose_segments(std::span<const Datum> data,
                                            std::size_t most = kMostSegments);

// The segments in the form of a calibration file: each from the size of its first point to the size
// of its last point.
[[nodiscard]] std::vector<links::CurveSegment> curve_of(const Segmentation& segmentation,
                                                        std::span<const Datum> data);

} // namespace stepsim::calibrate
