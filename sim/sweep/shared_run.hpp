#pragma once
// The points of a sweep that differ in nodes, latency and bandwidth only and that QuickRun does not
// know: the scenario is read once, and what does not depend on the network is computed once. Each
// point is then planned and timed as `run` does, and has the same bits.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "run/run_sync.hpp"
#include "scenario/scenario.hpp"
#include "sweep/sweep_quick.hpp"
#include "sweep/sweep_records.hpp"

namespace stepsim::study {

// Not thread-safe.
class SharedRun {
public:
  // Null where points need more than shares_workload allows; `first` has the network of any point.
  // Else as QuickRun::make. `max_seconds`: estimated CPU time above which a point fails.
  [[nodiscard]] static std::unique_ptr<SharedRun>
  make(const Scenario& first, bool latency_is_block_latency, double max_seconds);

  // False for a point that needs the long way, as all that fail do; `outcome` then means nothing.
  // `warnings` are those of the point.
  [[nodiscard]] bool run(const QuickPoint& point, std::int64_t replication, PointOutcome& outcome,
                         std::vector<std::string>& warnings);
  [[nodiscard]] const Scenario& scenario() const { return scenario_; }

private:
  SharedRun(const Scenario& scenario, bool block_follows, double max_seconds);
  [[nodiscard]] bool set_point(const QuickPoint& point, std::int64_t replication);

  Scenario scenario_; // its network and seeds are set point by point
  SyncParts parts_;
  bool block_follows_;
  double max_seconds_;
  double messages_; // of different sizes
  std::int64_t seed_;
};

} // namespace stepsim::study
