#include "collectives/node_ranks.hpp"

#include <cassert>

namespace stepsim::collectives {

NodeRanks::NodeRanks(const TwoLevel& levels, std::uint32_t ranks)
    : ranks_(ranks), per_node_(levels.gpus_per_node) {
  const std::vector<std::uint32_t>& counts = levels.ranks_per_node;
  if (counts.empty()) {
    nodes_ = (ranks + per_node_ - 1) / per_node_;
    largest_ = std::min(per_node_, ranks);
    smallest_ = ranks - (nodes_ - 1) * per_node_;
    return;
  }
  nodes_ = static_cast<std::uint32_t>(counts.size());
  largest_ = *std::ranges::max_element(counts);
  smallest_ = *std::ranges::min_element(counts);
  node_of_.reserve(ranks);
  for (std::uint32_t node = 0; node < nodes_; ++node) {
    first_.push_back(static_cast<std::uint32_t>(node_of_.size()));
    node_of_.insert(node_of_.end(), counts[node], node);
  }
  assert(node_of_.size() == ranks && "the nodes have all ranks");
}

NodeRanks::NodeRanks(const Collective& collective)
    : NodeRanks(collective.links.two_level.value_or(TwoLevel{}), collective.ranks) {}

} // namespace stepsim::collectives
