#pragma once
// Runs the points of a sweep that differ only in nodes, latency and bandwidth and that QuickRun
// does not support. The scenario is parsed once, and what does not depend on the network is
// computed once. Each point is then planned and timed as by run(), with bit-identical results.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "run/program_memory.hpp"
#include "scenario/scenario.hpp"
#include "study/sweep/sweep_quick.hpp"
#include "study/sweep/sweep_records.hpp"

namespace stepsim::study {

// Not thread-safe.
class SharedRun {
public:
  // Null if shares_scenario() is false or `first` has a single node. `first` may have the network
  // of any point. `latency_is_block_latency` means that the scenario gives no block latency, which
  // then follows the latency of the point. A point with more estimated CPU seconds than
  // `max_seconds` fails.
  [[nodiscard]] static std::unique_ptr<SharedRun>
  make(const Scenario& first, bool latency_is_block_latency, double max_seconds);

  // Runs a point and sets `outcome` and `warnings`, the warnings of the point. Returns false, with
  // both undefined, for a point that must be parsed and run by itself: a point with one node, too
  // many or too few ranks or a latency below the given block latency, a point that fails, or one
  // whose cost is not linear though its planner needs that.
  [[nodiscard]] bool run(const QuickPoint& point, std::int64_t replication, PointOutcome& outcome,
                         std::vector<std::string>& warnings);
  // The cluster of the last point, not under its conditions.
  [[nodiscard]] const Cluster& cluster() const {
    return scenario_.nominal ? scenario_.nominal->cluster : scenario_.cluster;
  }

private:
  SharedRun(const Scenario& scenario, bool block_follows, double max_seconds);
  [[nodiscard]] bool set_point(const QuickPoint& point, std::int64_t replication);

  Scenario scenario_; // its network and seeds are set point by point
  ProgramMemory memory_;
  bool block_follows_;
  double max_seconds_;
  double messages_;                  // different_messages() of the scenario
  std::int64_t estimated_nodes_ = 0; // the last number whose work was estimated
  std::int64_t seed_;
  std::int64_t least_ranks_ = 1; // every straggler is a worker
};

} // namespace stepsim::study
