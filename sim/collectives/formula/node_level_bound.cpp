// Equal nodes take the table of CLU 4; of unequal ones every node is asked for itself, since the
// smallest has the fewest cards and the most to receive.
#include "collectives/formula/lower_bound.hpp"

#include <numeric>

#include "collectives/formula/uniform.hpp"
#include "collectives/node_ranks.hpp"
#include "collectives/schedule/partition.hpp"

namespace stepsim::collectives {
namespace {

using nccl::BoundKind;
using nccl::NodeBound;

// Bytes that the ranks of a node own of the result of a reduce_scatter or of the input of an
// allgather. Parts may be handed out in any order, and the first ones may be one element longer.
double own_bytes(const Collective& collective, const NodeRanks& nodes, std::uint32_t node) {
  if (!collective.sizes.empty()) {
    const auto first = collective.sizes.begin() + nodes.first(node);
    return std::accumulate(first, first + nodes.size(node), 0.0);
  }
  const Partition parts =
      Partition::equal(total_bytes(collective), collective.ranks, collective.options);
  return nodes.size(node) * parts.bytes(0, 1);
}

// What one node asks for. `root`: the node of the root, which need not receive (send) anything.
struct NodeNeeds {
  double over_cards{};
  double over_ports{}; // by all ranks of the node together
};
NodeNeeds needs_of(const Collective& collective, const NodeRanks& nodes, std::uint32_t node) {
  const double n = total_bytes(collective);
  const double ranks = nodes.size(node);
  const double own = own_bytes(collective, nodes, node);
  switch (collective.op) {
  case Op::broadcast:
  case Op::reduce:
    return node == nodes.node(collective.root) ? NodeNeeds{n, n} : NodeNeeds{n, ranks * n};
  case Op::allreduce:
    return {n, ranks * n};
  case Op::reduce_scatter:
  case Op::allgather:
  case Op::allgatherv:
    return {n - own, ranks * n - own};
  case Op::alltoall: // messages inside a node use no card, those between nodes nothing else
    return {ranks * (n - own), 0};
  }
  return {};
}

class Slowest {
public:
  void add(double bytes, double rate_Bps, BoundKind kind) {
    if (rate_Bps > 0 && bytes / rate_Bps > bound_.seconds) {
      bound_ = {bytes / rate_Bps, kind};
    }
  }
  [[nodiscard]] NodeBound bound() const { return bound_; }

private:
  NodeBound bound_{0, BoundKind::nic};
};

NodeBound unequal_bound(const Collective& collective, const NodeRanks& nodes) {
  const TwoLevel& two = *collective.links.two_level;
  const double card_Bps = 1 / collective.links.all.per_byte_s;
  const double inner_Bps = 1 / two.intra.per_byte_s;
  Slowest slowest;
  double all_cards = 0;
  double all_ports = 0;
  for (std::uint32_t node = 0; node < nodes.nodes(); ++node) {
    const std::uint32_t ranks = nodes.size(node);
    const double cards = std::min(two.nics_per_node, ranks) * card_Bps;
    const double ports = cards + (ranks > 1 ? ranks * inner_Bps : 0);
    const NodeNeeds needs = needs_of(collective, nodes, node);
    slowest.add(needs.over_cards, cards, BoundKind::nic);
    slowest.add(needs.over_ports, ports, BoundKind::gpu);
    if (collective.op == Op::alltoall && ranks > 1) {
      const double part = own_bytes(collective, nodes, node) / ranks;
      const double least = part - static_cast<double>(collective.options.element_bytes);
      slowest.add((ranks - 1) * std::max(0.0, least), inner_Bps, BoundKind::gpu);
    }
    all_cards += cards;
    all_ports += ports;
  }
  if (collective.op == Op::allreduce) {
    const double n = total_bytes(collective);
    slowest.add(2.0 * (nodes.nodes() - 1) * n, all_cards, BoundKind::nic);
    slowest.add(2.0 * (collective.ranks - 1) * n, all_ports, BoundKind::gpu);
  }
  return slowest.bound();
}

} // namespace

NodeBound node_level_bound(const Collective& collective) {
  const NodeRanks nodes(collective);
  if (!nodes.equal()) {
    return unequal_bound(collective, nodes);
  }
  const TwoLevel& two = *collective.links.two_level;
  const nccl::NodeRates rates{.nodes = static_cast<double>(nodes.nodes()),
                              .gpus = static_cast<double>(nodes.largest()),
                              .inner_Bps = 1 / two.intra.per_byte_s,
                              .nics_Bps = std::min(two.nics_per_node, two.gpus_per_node) /
                                          collective.links.all.per_byte_s};
  NodeBound bytes = nccl::node_bound(operation_of(collective.op), total_bytes(collective), rates);
  if (!collective.sizes.empty()) {
    for (std::uint32_t node = 0; node < nodes.nodes(); ++node) {
      const double others = total_bytes(collective) - own_bytes(collective, nodes, node);
      const double nic_s = others / rates.nics_Bps;
      bytes = nic_s > bytes.seconds ? NodeBound{nic_s, BoundKind::nic} : bytes;
    }
  }
  return bytes;
}

} // namespace stepsim::collectives
