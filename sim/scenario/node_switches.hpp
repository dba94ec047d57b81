#pragma once
// Reads the keys of switches: those that join machines to one node, and those that add, in a node
// (NVLS) or in the network. A scenario has them in /cluster, a collective at its root.
#include <optional>

#include "scenario/parse_context.hpp"

namespace stepsim::study {

// The given values, else those of the node type. Empty if the rate is not given and the node type
// has no switch that adds, and for a rate of 0.
[[nodiscard]] std::optional<coll::NvlsCost> read_nvls(io::Fields& fields,
                                                      const std::optional<NodeSource>& node);
// Seconds; empty if switch_latency_s is not given.
[[nodiscard]] std::optional<double> read_switch_latency(io::Fields& fields);
// Machines in one NVLink domain of the node type: all `nodes` if they fit into one domain; 1 if
// `nodes` is not a multiple of the domain.
[[nodiscard]] std::int64_t domain_nodes_of(const std::optional<NodeSource>& node,
                                           std::int64_t nodes);
// Reads all of /cluster; the node type gives missing values, but no domain next to a topology. A
// domain that does not divide the nodes is a problem.
void read_switches(io::Fields& fields, const ParseContext& context, Cluster& cluster);

} // namespace stepsim::study
