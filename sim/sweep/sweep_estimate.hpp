#pragma once
// How long a sweep may take, from timing three of its points, and how its points are evaluated.
#include <cstdint>

#include "sweep/sweep.hpp"

namespace stepsim::study {

struct SweepEstimate {
  double seconds{};     // wall clock, of all points of the shard with `jobs` threads
  std::int64_t timed{}; // points that were timed: the first, the middle and the last
  // How many of the timed points one formula evaluates together with points that differ from them
  // in nodes, latency and bandwidth only (QuickRun), and how many share their workload with such
  // points (SharedRun). For every other point the scenario is read anew.
  std::int64_t by_formula{};
  std::int64_t sharing{};
};
// Throws as run_sweep does for points that cannot be parsed.
[[nodiscard]] SweepEstimate estimate(const Sweep& sweep, Files& files, const SweepOptions& options);

// CPU seconds of `points` points, about: the mean of what the first, the middle and the last one
// are expected to take, none of which is run. Points that cannot be parsed count nothing.
[[nodiscard]] double expected_seconds(const Sweep& sweep, Files& files, std::int64_t points);

} // namespace stepsim::study
