#pragma once
// Which ranks are on which node (CLU 2, 3.6). Ranks are numbered node by node. Every node has
// gpus_per_node ranks, the last one what is left; or TwoLevel::ranks_per_node lists the counts:
//     ranks_per_node 3, 1, 2     rank 0 1 2 | 3 | 4 5
#include <cstdint>
#include <vector>

#include "coll/collective.hpp"

namespace stepsim::coll {

class NodeRanks {
public:
  // `ranks` >= 1; the listed counts, if any, are >= 1 and add up to `ranks`.
  NodeRanks(const TwoLevel& levels, std::uint32_t ranks);
  // Without two levels every rank is a node of its own.
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
  std::uint32_t per_node_; // of nodes that are not listed
  std::uint32_t nodes_;
  std::uint32_t largest_, smallest_;
  std::vector<std::uint32_t> node_of_; // [rank] of listed nodes
  std::vector<std::uint32_t> first_;   // [node] of listed nodes
};

} // namespace stepsim::coll
