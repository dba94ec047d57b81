#pragma once
// The keys of switches: those that join machines to one node, and those that add, in a node (NVLS)
// or in the network. A scenario has them in /cluster, a collective at its root.
#include <optional>

#include "scenario/parse_context.hpp"

namespace stepsim::study {

// The values given, else those of a node type whose switch adds; empty without either.
[[nodiscard]] std::optional<coll::NvlsCost> read_nvls(io::Fields& fields,
                                                      const std::optional<NodeSource>& node);
// Seconds; empty where switch_latency_s is not given.
[[nodiscard]] std::optional<double> read_switch_latency(io::Fields& fields);
// Machines of one NVLink domain of the node type, as far as `nodes` make whole domains: fewer nodes
// than a domain has are one domain.
[[nodiscard]] std::int64_t domain_nodes_of(const std::optional<NodeSource>& node,
                                           std::int64_t nodes);
// All of /cluster; the node type fills what is left open, but no domain beside a topology. A domain
// that does not divide the nodes is a problem.
void read_switches(io::Fields& fields, const ParseContext& context, Cluster& cluster);

} // namespace stepsim::study
