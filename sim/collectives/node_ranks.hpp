#pragma once
// Maps ranks to nodes (CLU 2, 3.6). Ranks are numbered node by node. Every node has gpus_per_node
// ranks and the last node the rest, unless TwoLevel::ranks_per_node lists the numbers:
//     ranks_per_node 3, 1, 2     rank 0 1 2 | 3 | 4 5

#include "collectives/collective.hpp"

namespace stepsim::collectives {

class NodeRanks {
public:
  // Needs `ranks` >= 1; listed numbers must be >= 1 and add up to `ranks`.
  NodeRanks(const TwoLevel& levels, std::uint32_t ranks);
  // Without two levels every rank is a separate node.
  explicit NodeRanks(const Collective& collective);

  [[nodiscard]] std::uint32_t nodes() const { return nodes_; }
  [[nodiscard]] std::uint32_t node(std::uint32_t rank) const {
    return node_of_.empty() ? rank / per_node_ : node_of_[rank];
  }
  [[nodiscard]] std::uint32_t first(std::uint32_t node) const {
    return node_of_.empty() ? node * per_node_ : first_[node];
  }
  [[nodiscard]] std::uint32_t local(std::uint32_t rank) const {
    return node_of_.empty() ? rank % per_node_ : rank - first_[node_of_[rank]];
  }
  [[nodiscard]] std::uint32_t size(std::uint32_t node) const {
    return (node + 1 < nodes_ ? first(node + 1) : ranks_) - first(node);
  }
  [[nodiscard]] std::uint32_t largest() const { return largest_; }
  [[nodiscard]] std::uint32_t smallest() const { return smallest_; }
  [[nodiscard]] bool equal() const { return largest_ == smallest_; }

private:
  std::uint32_t ranks_;
  std::uint32_t per_node_; // ranks per node, if not listed
  std::uint32_t nodes_;
  std::uint32_t largest_, smallest_;
  std::vector<std::uint32_t> node_of_; // [rank] its node, if nodes are listed
  std::vector<std::uint32_t> first_;   // [node] its first rank, if nodes are listed
};

} // namespace stepsim::collectives
