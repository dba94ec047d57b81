// What the exchanges of one lane of QuickRun cost: start-up and time per byte, or a curve, and the
// parts they consist of.
#include "study/sweep/sweep_quick.hpp"

#include "collectives/formula/closed_form.hpp"
#include "scenario/scenario_exchange.hpp"

namespace stepsim::study {

bool QuickRun::set_network(const QuickPoint& point) {
  constexpr std::int64_t kMaxRanks = 1 << 20;
  Cluster& cluster = scenario_.cluster;
  if (point.nodes * cluster.gpus_per_node > kMaxRanks || !cluster.equal_nodes()) {
    return false;
  }
  cluster.nodes = point.nodes;
  cluster.network.latency_s = point.latency_s;
  cluster.network.bandwidth_Bps = point.bandwidth_Bps;
  if (block_follows_) {
    cluster.network.block_latency_s = point.latency_s;
  }
  return cluster.network.block_latency_s <= point.latency_s;
}

// False where the exchange has no form here.
bool QuickRun::fill_costs(const QuickPoint& point, std::size_t k, LaneCosts& costs) {
  if (!set_network(point)) {
    return false;
  }
  costs.ranks[k] = static_cast<double>(scenario_.cluster.ranks());
  costs.startup[k] = costs.per_byte[k] = 0;
  costs.latency[k] = costs.bandwidth[k] = costs.reduction[k] = 0;
  if (scenario_.cluster.ranks() == 1) {
    return !curves_;
  }
  collectives::Collective probe = exchange_of(scenario_);
  probe.bytes = 1;
  if (!probe.homogeneous()) {
    return false;
  }
  if (curves_) {
    return curves_->set(k, probe);
  }
  const auto whole = collectives::closed_form(probe);
  if (!whole || !whole->startup_s || !whole->per_byte_s || whole->upper_bound) {
    return false;
  }
  costs.startup[k] = *whole->startup_s;
  costs.per_byte[k] = *whole->per_byte_s;
  const FormParts parts = parts_of_(probe, *whole);
  costs.latency[k] = parts.latency_s;
  costs.bandwidth[k] = parts.bandwidth_s_per_byte;
  costs.reduction[k] = parts.reduction_s_per_byte;
  return true;
}

} // namespace stepsim::study
