// The slowest hop of a ring stands for all of them: in a pipeline every block passes every hop, so
// that the slowest one sets the pace.
#include "collectives/evaluate/fabric_links.hpp"

#include "links/flow/flow_network.hpp"

namespace stepsim::collectives {

LinkCost ring_cost(const Links& links, RankRow ranks) {
  const links::RankFabric& fabric = *links.fabric;
  const FabricLinks beside(links);
  LinkCost slowest;
  for (std::uint32_t i = 0; ranks.count > 1 && i < ranks.count; ++i) {
    const std::uint32_t src = ranks.first + i * ranks.stride;
    const std::uint32_t dst = ranks.first + (i + 1) % ranks.count * ranks.stride;
    LinkCost cost = beside.cost(src, dst);
    const links::FlowPath path = links::rank_path(fabric, src, dst);
    cost.latency_s += path.latency_s;
    cost.block_latency_s += path.latency_s;
    for (std::size_t link = 0; link < path.links.size(); ++link) {
      // A sprayed path puts only a part of its bytes on each of its branches.
      const double part = path.parts.empty() ? 1 : path.parts[link];
      const double rate = fabric.fabric().links[path.links[link]].bandwidth_Bps;
      cost.per_byte_s = std::max(cost.per_byte_s, part * fabric.headers.per_byte() / rate);
    }
    slowest.latency_s = std::max(slowest.latency_s, cost.latency_s);
    slowest.block_latency_s = std::max(slowest.block_latency_s, cost.block_latency_s);
    slowest.per_byte_s = std::max(slowest.per_byte_s, cost.per_byte_s);
  }
  return slowest;
}

} // namespace stepsim::collectives
