#pragma once
// Finds the places between two bounds where a function of one variable crosses a target. Only
// values of the function are used, and it need not be monotone:
//
//   scan     evaluate many points, evenly spaced: on a logarithmic scale if the lower bound is > 0
//   probe    if a scanned point comes near the target and both neighbours are farther away, search
//            around it for a point on the other side of the target
//   refine   narrow each change of side to 1e-9 relative (integers: to two neighbours)
//
// Values within 1e-12 relative of the target are equal to it. Several such values in a row are one
// crossing, at the point where the function reaches the target, even if it then turns back. If they
// begin at the lower bound or after a failed sample, the crossing is where the function leaves the
// target.
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace stepsim::study {

struct CrossingSearch {
  double low{}, high{}; // low < high
  double target{};
  bool integers = false; // the variable takes integers only
  // If the function jumps over the target (integers, discontinuities), the crossing is the
  // neighbour with a value > target (true) or < target (false).
  bool at_least = true;
};

struct Sample {
  double at{};
  std::optional<double> value; // empty if the function fails there
};

// A point where the function meets the target, and the value there.
struct Crossing {
  double at{};
  double value{};
  bool rising{}; // the function grows through the target as the variable grows
  // The neighbour on the other side of a jump over the target, or the nearest sample there if the
  // function fails in between. Empty if the function passes through the target at `at`.
  std::optional<Sample> beyond;
};

using Evaluate = std::function<std::optional<double>(double)>;

// The points to scan, ascending: the two bounds and values between them, rounded to 6 significant
// digits or to integers. There are at most `points` >= 2 of them, 129 if `points` is empty. If the
// interval has at most `points` integers (1024 if `points` is empty), all of them are scanned.
[[nodiscard]] std::vector<double> scan_values(const CrossingSearch& search,
                                              std::optional<std::int64_t> points);

// The crossings, ascending. `scan` holds the samples at scan_values(), ascending. The intervals on
// both sides of a sample without a value are not searched.
[[nodiscard]] std::vector<Crossing> find_crossings(const CrossingSearch& search,
                                                   std::span<const Sample> scan,
                                                   const Evaluate& evaluate);

} // namespace stepsim::study
