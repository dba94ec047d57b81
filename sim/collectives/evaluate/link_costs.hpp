#pragma once
// The three kinds of link cost for which evaluators are compiled:
//   EqualLinks     all pairs have the same link
//   PairLinks      pairs listed one by one; all other pairs are alike or have no link
//   TwoLevelLinks  ranks of one node use the inner link, other ranks the interfaces (NICs) of their
//                  nodes; a listed pair has a separate link
// `cost(src, dst)` throws SimulationError if there is no link; `shared(src, dst)` is whether the
// transfer leaves its node through a shared interface.

#include "collectives/node_ranks.hpp"
#include "links/fabric/placement.hpp"

namespace stepsim::collectives {

struct EqualLinks {
  LinkCost all;
  [[nodiscard]] const LinkCost& cost(std::uint32_t /*src*/, std::uint32_t /*dst*/) const {
    return all;
  }
};

class PairLinks {
public:
  PairLinks(const Links& links, std::uint32_t ranks);
  [[nodiscard]] const LinkCost& cost(std::uint32_t src, std::uint32_t dst) const;
  // Returns the cost, or null if the pair is not listed.
  [[nodiscard]] const LinkCost* listed(std::uint32_t src, std::uint32_t dst) const;

private:
  std::vector<PairCost> pairs_;
  std::vector<std::size_t> row_; // [ranks + 1] first pair of a source
  LinkCost all_;
  bool pairs_only_;
};

class TwoLevelLinks {
public:
  TwoLevelLinks(const Links& links, std::uint32_t ranks);
  [[nodiscard]] const LinkCost& cost(std::uint32_t src, std::uint32_t dst) const;
  [[nodiscard]] bool shared(std::uint32_t src, std::uint32_t dst) const {
    return node(src) != node(dst) && (!any_pairs_ || pairs_.listed(src, dst) == nullptr);
  }
  // Returns the factor on the cost per byte if flows share ports for a whole phase: 1 for a listed
  // pair; else `inner` inside a node, and `nic` on an interface (see Phase).
  [[nodiscard]] std::uint32_t static_share(std::uint32_t src, std::uint32_t dst, std::uint32_t nic,
                                           std::uint32_t inner) const {
    const bool listed = any_pairs_ && pairs_.listed(src, dst) != nullptr;
    return listed ? 1 : node(src) == node(dst) ? inner : nic;
  }
  [[nodiscard]] std::uint32_t node(std::uint32_t rank) const { return nodes_.node(rank); }
  [[nodiscard]] std::uint32_t nodes() const { return nodes_.nodes(); }
  [[nodiscard]] std::uint32_t gpus_per_node() const { return levels_.gpus_per_node; }
  [[nodiscard]] std::uint32_t nics_per_node() const { return levels_.nics_per_node; }
  // Returns the send port of the rank's interface, numbered over all nodes; every interface has a
  // send and a receive port.
  [[nodiscard]] std::uint32_t send_port(std::uint32_t rank) const {
    return 2 * (node(rank) * levels_.nics_per_node + nodes_.local(rank) % levels_.nics_per_node);
  }
  [[nodiscard]] std::uint32_t receive_port(std::uint32_t rank) const { return send_port(rank) + 1; }
  [[nodiscard]] std::uint32_t ports() const { return 2 * nodes() * levels_.nics_per_node; }
  [[nodiscard]] const LinkCost& between_nodes() const { return inter_; }
  [[nodiscard]] const LinkCost& inside_nodes() const { return levels_.intra; }

private:
  TwoLevel levels_;
  LinkCost inter_;
  PairLinks pairs_;
  bool any_pairs_;
  NodeRanks nodes_;
};

using AnyLinks = std::variant<EqualLinks, PairLinks, TwoLevelLinks>;
[[nodiscard]] AnyLinks make_links(const Links& links, std::uint32_t ranks);

// [rank] the values of the collective. If it has none, all entry times are 0, and all reduction
// costs are collective.reduction_s_per_byte.
[[nodiscard]] std::vector<double> entry_times(const Collective& collective);
[[nodiscard]] std::vector<double> reduction_costs(const Collective& collective); // s per byte

// Collectives on a fabric (`Links::fabric`): the link costs in addition to the paths of the flows,
// and a summary of the fabric for formulas that need one alpha and one beta.

// Link costs on a fabric. Ranks of one host communicate over the inner link (two_level->intra, else
// all). A transfer that leaves a host waits for the latency of `all` in addition to that of its
// path, and its flow is never faster than 1 / per_byte_s of `all`.
class FabricLinks {
public:
  explicit FabricLinks(const Links& links)
      : hosts_(links.fabric->hosts), all_(links.all),
        inside_(links.two_level ? links.two_level->intra : links.all) {}

  [[nodiscard]] const LinkCost& cost(std::uint32_t src, std::uint32_t dst) const {
    return hosts_[src] == hosts_[dst] ? inside_ : all_;
  }
  [[nodiscard]] const LinkCost& inside() const { return inside_; }

private:
  const std::vector<links::NodeId>& hosts_; // hosts of the fabric, which must outlive the object
  LinkCost all_, inside_;
};

// `count` ranks, `stride` apart.
struct RankRow {
  std::uint32_t first = 0, stride = 1, count = 0;
};

// Returns the largest latency and the smallest bandwidth of the idle paths between neighbours in a
// ring of these ranks: alpha and beta for the block size of a pipeline (COL 7), whose blocks each
// take the latency of the path. All costs are 0 for fewer than two ranks. O(count) paths.
[[nodiscard]] LinkCost ring_cost(const Links& links, RankRow ranks);

} // namespace stepsim::collectives
