#pragma once
// Where does a function of one variable pass a target? All such places between two bounds, the
// function known by its values only and not assumed monotone:
//
//   scan     many points, evenly spaced: on a logarithmic scale where the lower bound is > 0
//   probe    around a scanned point that comes near the target and turns back: is there a dip
//            through the target between two points?
//   refine   each change of side to 1e-9 relative (integers: to two neighbours)
//
// Values within 1e-12 relative of the target count as equal to it. A stretch of such values is one
// crossing, where the function reaches it, also if the function then turns back; a stretch at the
// lower bound, or after a failed sample, is one where the function leaves it.
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
  // Where two neighbours lie on both sides and none on the target (integers, jumps): the answer is
  // the one with a value >= target, or <= target.
  bool at_least = true;
};

struct Sample {
  double at{};
  std::optional<double> value; // empty: the function fails there
};

// Where the function meets the target, and its value there.
struct Crossing {
  double at{};
  double value{};
  bool rising{};                // from below the target to above it as the variable grows
  std::optional<Sample> beyond; // the neighbour on the other side, if the function jumps over it
};

using Evaluate = std::function<std::optional<double>(double)>;

// At most `points` >= 2 values, ascending, first and last the bounds; those between rounded to 6
// significant digits, or to integers. All integers between the bounds where there are at most
// `points`. Without `points` at most 129, and all integers where there are at most 1024.
[[nodiscard]] std::vector<double> scan_values(const CrossingSearch& search,
                                              std::optional<std::int64_t> points);

// All crossings, ascending. `scan` holds the evaluated values of scan_values, ascending; the
// intervals on both sides of a sample without a value are not searched.
[[nodiscard]] std::vector<Crossing> find_crossings(const CrossingSearch& search,
                                                   std::span<const Sample> scan,
                                                   const Evaluate& evaluate);

} // namespace stepsim::study
