#pragma once
// Shortest paths through a fabric by number of links. All equal-cost next hops are kept, sorted by
// (node id, link id). A hash of the connection picks one of them, so a connection has the same path
// at the flow and the packet level (PKT 3.6). Hosts do not forward unless the fabric has
// `hosts_forward`.
//
// A host with a single cable, to a switch, needs no table: a path to it is a path to the switch and
// one more link. The tables therefore have at most (switches + other hosts)^2 entries, not (all
// nodes)^2.
#include <span>

#include "links/fabric/fabric.hpp"

namespace stepsim::links {

class Routes {
public:
  // Takes time O(links x (switches with hosts + hosts with several cables)). Throws SimulationError
  // naming two hosts without a path, or if the tables would exceed 2^26 entries (about 1 GB).
  explicit Routes(const Fabric& fabric);

  // Returns the equal-cost links from `node` towards host `dst`; empty at dst itself, and at a
  // switch without a path to dst.
  [[nodiscard]] std::span<const LinkId> next_links(NodeId node, NodeId dst) const;
  // Returns the number of links on a shortest path; kNoWay at a switch without a path to dst.
  [[nodiscard]] std::uint32_t distance(NodeId node, NodeId dst) const;
  static constexpr std::uint32_t kNoWay = 0xffffffffU;

  // Returns the path of a connection under ECMP: at every node pick(hash(seed, 1, node, src, dst,
  // connection), m) of the m next hops (base/random.hpp). Empty if src = dst.
  [[nodiscard]] std::vector<LinkId> ecmp_path(NodeId src, NodeId dst, std::uint64_t connection,
                                              std::uint64_t seed) const;

  // Returns the number of shortest paths from src to dst; 1 if src = dst.
  [[nodiscard]] double path_count(NodeId src, NodeId dst) const;

private:
  void number_nodes(const Fabric& fabric);
  void fill(const Fabric& fabric);
  void require_ways(const Fabric& fabric) const;
  [[nodiscard]] std::size_t cell(NodeId node, NodeId dst) const;
  [[nodiscard]] bool is_leaf(NodeId node) const; // a host with one cable, to a switch

  std::uint32_t hosts_{};
  std::vector<NodeId> to_;              // [link]
  std::vector<LinkId> up_, down_;       // [host] links of a leaf; kNoLink for others
  std::vector<NodeId> root_;            // [host] the switch of a leaf; for others the host itself
  std::vector<std::uint32_t> row_;      // [host] row of its root
  std::vector<std::uint32_t> column_;   // [node] for all but leaves
  std::vector<NodeId> roots_, columns_; // [row], [column] node
  std::vector<std::uint32_t> distance_; // [row x columns + column] links from column to root
  std::vector<std::uint32_t> begin_;    // [row x columns + column] index in next_
  std::vector<LinkId> next_;
};

} // namespace stepsim::links
