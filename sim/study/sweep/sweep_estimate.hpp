#pragma once
// Estimates how long a sweep will take: by running three of its points, or without running any.
#include <cstdint>

#include "study/sweep/sweep.hpp"

namespace stepsim::study {

struct SweepEstimate {
  double seconds{};     // wall-clock time for all points of the shard with `jobs` threads
  std::int64_t timed{}; // number of points that were timed: the first, the middle and the last
  // How many of the timed points QuickRun evaluates (a point together with all that differ from it
  // in nodes, latency and bandwidth only), and how many SharedRun evaluates. For every other point
  // the scenario is parsed anew.
  std::int64_t by_formula{};
  std::int64_t sharing{};
};
// Runs the three points. Throws InputError if none of a sample of points can be parsed
// (check_some_point()).
[[nodiscard]] SweepEstimate estimate(const Sweep& sweep, Files& files, const SweepOptions& options);

// Approximate CPU seconds for `points` points of the sweep: `points` times the mean of the
// estimated seconds (work_estimate.hpp) of the first, the middle and the last point. No point is
// run. A point that cannot be parsed counts as 0 s.
[[nodiscard]] double expected_seconds(const Sweep& sweep, Files& files, std::int64_t points);

} // namespace stepsim::study
