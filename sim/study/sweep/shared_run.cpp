#include "study/sweep/sweep_point.hpp"

#include "run/run.hpp"
#include "scenario/scenario_conditions.hpp"

namespace stepsim::study {

std::unique_ptr<SharedRun> SharedRun::make(const Scenario& first, bool latency_is_block_latency,
                                           double max_seconds) {
  if (first.cluster.nodes < 2 || !shares_scenario(first)) {
    return nullptr;
  }
  return std::make_unique<SharedRun>(SharedRun(first, latency_is_block_latency, max_seconds));
}

SharedRun::SharedRun(const Scenario& scenario, bool block_follows, double max_seconds)
    : scenario_(scenario), block_follows_(block_follows), max_seconds_(max_seconds),
      messages_(different_messages(scenario)), seed_(scenario.seed) {
  for (const layers::Straggler& straggler : scenario.variability.stragglers) {
    least_ranks_ = std::max(least_ranks_, std::int64_t{straggler.worker} + 1);
  }
}

// Keys that a single node does not read are read with several.
bool SharedRun::set_point(const QuickPoint& point, std::int64_t replication) {
  Cluster& cluster = scenario_.nominal ? scenario_.nominal->cluster : scenario_.cluster;
  const Network& network = cluster.network;
  if (const auto& profile = network.profile; scenario_.nominal && profile) {
    // A measured link is one no longer where a key replaces its value.
    const bool is_measured =
        profile->label != links::ProfileLabel::default_value || profile->fitted_rate;
    if (point.latency_s != network.latency_s ||
        (is_measured && point.bandwidth_Bps != network.bandwidth_Bps)) {
      return false;
    }
  }
  if (point.nodes < 2 || point.nodes * cluster.gpus_per_node < least_ranks_ ||
      !set_network(point, block_follows_, cluster)) {
    return false;
  }
  scenario_.variability.seed = replication_seed(static_cast<std::uint64_t>(seed_), replication);
  renew_conditions(scenario_);
  return true;
}

std::optional<Result> SharedRun::run(const QuickPoint& point, std::int64_t replication) {
  if (!set_point(point, replication)) {
    return std::nullopt;
  }
  try {
    const bool linear = buckets::planner(scenario_.communication.schedule).needs_linear_cost();
    if (linear && !merge_cost(scenario_).is_linear()) {
      return std::nullopt;
    }
    if (estimated_nodes_ != point.nodes) { // neither latency nor bandwidth makes more work
      refuse_long_work(estimated_seconds(scenario_, messages_), max_seconds_);
      estimated_nodes_ = point.nodes;
    }
    return study::run(scenario_, Detail::summary, &memory_);
  } catch (const SimulationError&) { // the long way tells what is wrong
  } catch (const UsageError&) {}
  return std::nullopt;
}

} // namespace stepsim::study
