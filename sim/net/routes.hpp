#pragma once
// Shortest ways through a fabric by number of links. All equal-cost next hops are kept, sorted by
// (node id, link id); which of them a packet or flow takes is a hash of what it is, so a connection
// keeps its path at every level of the model (PKT 3.6).
#include <cstdint>
#include <span>
#include <vector>

#include "net/fabric.hpp"

namespace stepsim::net {

class Routes {
public:
  // O(hosts x links) time. Throws SimulationError naming two hosts without a way.
  explicit Routes(const Fabric& fabric);

  // Equal-cost links out of `node` towards host `dst`; empty at dst itself.
  [[nodiscard]] std::span<const LinkId> next_links(NodeId node, NodeId dst) const;
  [[nodiscard]] std::uint32_t distance(NodeId node, NodeId dst) const; // links

  // The path of a connection under ECMP: at every node pick(hash(seed, 1, node, src, dst,
  // connection), m) of the m next hops. Empty for src = dst.
  [[nodiscard]] std::vector<LinkId> ecmp_path(NodeId src, NodeId dst, std::uint64_t connection,
                                              std::uint64_t seed) const;

private:
  std::uint32_t hosts_{};
  std::uint32_t nodes_{};
  const Fabric* fabric_{};              // outlives this
  std::vector<std::uint32_t> distance_; // [dst * nodes + node]
  std::vector<std::uint32_t> begin_;    // [dst * nodes + node], into next_
  std::vector<LinkId> next_;
};

} // namespace stepsim::net
