// Exchanges of a trace are compared at the number of ranks that the trace was recorded with, on the
// scenario's own links: any other number would compare different collectives.

#include "run/measured_exchanges.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "programs/step/exchange_times.hpp"
#include "scenario/scenario_exchange.hpp"

namespace stepsim::study {

namespace {

// Far enough apart that waiting for the slowest rank, or another network, is the likely reason.
constexpr double kFar = 0.3;

// The cluster with `ranks` workers, nodes filled as they are here; empty where it has none like it.
// A cluster with a fabric or a curve cannot be made larger or smaller: its routes and its points
// belong to the ranks that it has.
std::optional<Cluster> with_ranks(const Cluster& cluster, std::int64_t ranks) {
  if (cluster.ranks() == ranks) {
    return cluster;
  }
  if (!cluster.equal_nodes()) {
    return std::nullopt;
  }
  Cluster small = cluster;
  small.gpus_per_node = std::min(cluster.gpus_per_node, ranks);
  small.nodes = ranks / small.gpus_per_node;
  small.nvlink_domain_nodes = std::min(cluster.nvlink_domain_nodes, small.nodes);
  const bool even = small.ranks() == ranks &&
                    small.nodes % std::max<std::int64_t>(small.nvlink_domain_nodes, 1) == 0;
  const bool needs_network = small.nodes > 1 && !cluster.has_network;
  if (!even || needs_network || cluster.fabric || cluster.network.curve) {
    return std::nullopt;
  }
  return small;
}

} // namespace

std::vector<MeasuredExchange> measured_exchanges(const Scenario& scenario) {
  const layers::Workload& workload = scenario.workload;
  const std::int64_t ranks = workload.measured_ranks.value_or(1);
  const bool timed =
      std::ranges::any_of(workload.buckets, [](const layers::MeasuredBucket& bucket) {
        return bucket.median.has_value();
      });
  if (!timed || ranks < 2 || scenario.training.algorithm != TrainingAlgorithm::sync_sgd ||
      scenario.cluster.network.model == NetworkModel::packet) {
    return {};
  }
  const std::optional<Cluster> cluster = with_ranks(scenario.cluster, ranks);
  if (!cluster) {
    return {};
  }
  Scenario there = scenario;
  there.cluster = *cluster;
  // What the trace timed were dense all-reduces.
  there.communication.compression = {};
  there.communication.reduce_broadcast = false;
  programs::ExchangeTimes times(exchange_of(there), std::nullopt, there.cluster.network.curve);
  std::vector<MeasuredExchange> all;
  for (std::size_t b = 0; b < workload.buckets.size(); ++b) {
    const layers::MeasuredBucket& bucket = workload.buckets[b];
    if (!bucket.median) {
      continue;
    }
    try {
      all.push_back({.index = static_cast<std::int64_t>(b),
                     .bytes = bucket.bytes,
                     .measured_s = bucket.median->value,
                     .simulated_s = times(bucket.bytes).seconds});
    } catch (const SimulationError&) {
      return {}; // the algorithm needs other rank counts
    }
  }
  return all;
}

std::optional<std::string> far_exchanges(const Scenario& scenario,
                                         const std::vector<MeasuredExchange>& all) {
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const MeasuredExchange& each : all) {
    if (each.simulated_s > 0) {
      least = std::min(least, each.measured_s / each.simulated_s);
      most = std::max(most, each.measured_s / each.simulated_s);
    }
  }
  // Exchanges that take no time here have no ratio and are left out.
  if (most == 0 || (most <= 1 + kFar && least >= 1 - kFar)) {
    return std::nullopt;
  }
  const bool one = all.size() == 1;
  return "exchanges of the trace, at " + std::to_string(*scenario.workload.measured_ranks) +
         " ranks, took " + (one ? "" : base::significant(least, 3) + " to ") +
         base::significant(most, 3) + " times as long as on this network: " +
         (most <= 1 + kFar    ? "the network of the trace was faster"
          : least >= 1 - kFar ? "they hold waiting for the slowest rank, or that network was slower"
                              : "those above 1 may hold waiting for the slowest rank; below 1, the "
                                "network of the trace was faster");
}

} // namespace stepsim::study
