#pragma once
// Reads the numbers of GPUs and network interfaces of the nodes: gpus_per_node, or ranks_per_node
// if nodes differ (CLU 3.6), and nics_per_node. A node type gives missing values.

#include "scenario/parse_context.hpp"

namespace stepsim::study {

// Reads the three keys. `nodes` and the node type of `cluster` must be known. `usual_gpus` is the
// default of gpus_per_node. A list that does not fit the nodes is a problem.
void read_counts(io::Fields& fields, const ParseContext& context, std::int64_t usual_gpus,
                 Cluster& cluster);

// Element d is the number of ranks of domain d, which is `nodes` consecutive nodes; the list is
// empty if all domains have equally many.
[[nodiscard]] std::vector<std::uint32_t> domain_ranks(std::span<const std::int64_t> ranks_per_node,
                                                      std::int64_t nodes);

// The nodes that groups of ranks see (CLU 3.7): machines that an NVLink domain joins are one node.
// On a topology, whose links say what is joined, every machine is a node.
struct JoinedNodes {
  std::int64_t nodes{}, gpus{}, nics{}; // gpus and nics of one node; each GPU uses one interface
  [[nodiscard]] std::int64_t gpus_per_nic() const { return (gpus + nics - 1) / nics; }
};
// Nodes must be equal.
[[nodiscard]] JoinedNodes joined_nodes(const Cluster& cluster);

// The warning about interfaces that no GPU uses (CLU 13).
[[nodiscard]] std::string unused_interfaces(std::int64_t nics, std::int64_t gpus);

// The hosts of all ranks. `places` has `per_node` places for each node, of which node k uses the
// first ranks_per_node[k].
[[nodiscard]] std::vector<links::NodeId>
first_places(std::span<const links::NodeId> places, std::size_t per_node,
             std::span<const std::uint32_t> ranks_per_node);

// The number of the first rank of a node: ranks are numbered node by node.
[[nodiscard]] std::uint32_t first_rank(const Cluster& cluster, std::int64_t node);

// Reports a problem at `place` if nodes differ, because `what` needs equal ones.
void require_equal_nodes(const Cluster& cluster, std::string_view what, const io::Json& place,
                         io::Problems& problems);

// Reads the keys of two kinds of switches: switches that join several machines to one NVLink
// domain, and switches that add (reduce) data, in a node (NVLS) or in the network. A scenario has
// the keys in /cluster, a file of kind collective at its root.

// Reads nvlink_domain_nodes, nvls_Bps, nvls_startup_s and switch_latency_s. The node type gives
// missing values of the domain and of NVLS. Its domain is that of all nodes if they fit into one,
// and 1 if the number of nodes is no multiple of it, or with a topology. A domain that does not
// divide the number of nodes is a problem. There is no NVLS if its rate is neither given nor known.
void read_switches(io::Fields& fields, Cluster& cluster);

} // namespace stepsim::study
