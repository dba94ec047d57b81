#include "collectives/evaluate/link_costs.hpp"

#include "base/error.hpp"
#include "links/flow/flow_network.hpp"

namespace stepsim::collectives {

// Pairs are sorted by source, so that `row_` finds those of a source at once and a binary search
// finds the destination among them: O(log P) per look-up, O(pairs + P) memory.
PairLinks::PairLinks(const Links& links, std::uint32_t ranks)
    : pairs_(links.pairs), row_(std::size_t{ranks} + 1, 0), all_(links.all),
      pairs_only_(links.pairs_only) {
  for (const PairCost& pair : pairs_) {
    assert(pair.src < ranks && pair.dst < ranks && "links join ranks");
    ++row_[pair.src + 1];
  }
  assert(std::is_sorted(pairs_.begin(), pairs_.end(), [](const PairCost& a, const PairCost& b) {
    return a.src < b.src || (a.src == b.src && a.dst < b.dst);
  }));
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    row_[rank + 1] += row_[rank];
  }
}

const LinkCost* PairLinks::listed(std::uint32_t src, std::uint32_t dst) const {
  const auto begin = pairs_.begin() + static_cast<std::ptrdiff_t>(row_[src]);
  const auto end = pairs_.begin() + static_cast<std::ptrdiff_t>(row_[src + 1]);
  const auto at = std::lower_bound(begin, end, dst, [](const PairCost& pair, std::uint32_t wanted) {
    return pair.dst < wanted;
  });
  return at != end && at->dst == dst ? &at->cost : nullptr;
}

const LinkCost& PairLinks::cost(std::uint32_t src, std::uint32_t dst) const {
  if (const LinkCost* own = listed(src, dst)) {
    return *own;
  }
  if (pairs_only_) {
    throw SimulationError("no link " + std::to_string(src) + " -> " + std::to_string(dst));
  }
  return all_;
}

TwoLevelLinks::TwoLevelLinks(const Links& links, std::uint32_t ranks)
    : levels_(*links.two_level), inter_(links.all), pairs_(links, ranks),
      any_pairs_(!links.pairs.empty() || links.pairs_only), nodes_(levels_, ranks) {
  // A rank uses one interface: those beyond the ranks of a node carry nothing and need no port.
  levels_.nics_per_node = std::min(levels_.nics_per_node, levels_.gpus_per_node);
}

const LinkCost& TwoLevelLinks::cost(std::uint32_t src, std::uint32_t dst) const {
  // A listed pair has a wire of its own, also inside a node: it neither costs what the level costs
  // nor shares an interface.
  const LinkCost* own = any_pairs_ ? pairs_.listed(src, dst) : nullptr;
  if (own != nullptr) {
    return *own;
  }
  if (node(src) == node(dst)) {
    return levels_.intra;
  }
  return any_pairs_ ? pairs_.cost(src, dst) : inter_; // throws where only pairs have links
}

AnyLinks make_links(const Links& links, std::uint32_t ranks) {
  if (links.two_level) {
    return TwoLevelLinks(links, ranks);
  }
  if (links.pairs_only || !links.pairs.empty()) {
    return PairLinks(links, ranks);
  }
  return EqualLinks{links.all};
}

std::vector<double> entry_times(const Collective& collective) {
  return collective.enter_s.empty() ? std::vector<double>(collective.ranks, 0.0)
                                    : collective.enter_s;
}

std::vector<double> reduction_costs(const Collective& collective) {
  return collective.reduction_s_per_byte_rank.empty()
             ? std::vector<double>(collective.ranks, collective.reduction_s_per_byte)
             : collective.reduction_s_per_byte_rank;
}

// The slowest hop of a ring stands for all of them: in a pipeline every block passes every hop, so
// that the slowest one sets the pace.

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
