// The two runs of a scenario whose starts of messages and transfers hide behind each other.
#include "scenario/scenario_conditions.hpp"

namespace stepsim::study {

namespace {

// Rate of links that take no time, bytes/s.
constexpr double kInfinite = 1e14;

} // namespace

// Latencies of a simulated network belong to its links and stay.
Scenario without_starts(const Scenario& scenario) {
  Scenario out = scenario;
  out.conditions.hides_transfers = false;
  out.training.sync = scenario.nominal->training.sync;
  if (!scenario.cluster.fabric) {
    Network& network = out.cluster.network;
    network.latency_s = network.block_latency_s = 0;
    if (auto& intra = out.cluster.intra) {
      intra->latency_s = intra->block_latency_s = 0;
    }
  }
  return out;
}

Scenario without_transfers(const Scenario& scenario) {
  Scenario out = scenario;
  out.conditions.hides_transfers = false;
  Cluster& cluster = out.cluster;
  cluster.network.bandwidth_Bps = kInfinite;
  cluster.network.efficiency = 1;
  if (cluster.intra) {
    cluster.intra->per_byte_s = 1 / kInfinite;
  }
  if (cluster.fabric) {
    set_link_rates(kInfinite, cluster);
  }
  if (auto& outer = out.training.local.outer_network; outer && outer->bandwidth_Bps) {
    outer->bandwidth_Bps = kInfinite;
  }
  return out;
}

} // namespace stepsim::study
