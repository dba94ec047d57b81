#pragma once
// Reads the keys of two kinds of switches: switches that join several machines to one NVLink
// domain, and switches that add (reduce) data, in a node (NVLS) or in the network. A scenario has
// the keys in /cluster, a file of kind collective at its root.
#include <optional>

#include "scenario/parse_context.hpp"

namespace stepsim::study {

// Reads nvls_Bps and nvls_startup_s; missing values come from the node type. Empty if the rate is 0
// or neither given nor known from the node type.
[[nodiscard]] std::optional<collectives::NvlsCost> read_nvls(io::Fields& fields,
                                                             const std::optional<NodeSource>& node);
// Seconds; empty if switch_latency_s is not given.
[[nodiscard]] std::optional<double> read_switch_latency(io::Fields& fields);
// The number of machines per NVLink domain by the node type: all `nodes` if they fit into one
// domain; 1 if `nodes` is not a multiple of the domain, or without a node type.
[[nodiscard]] std::int64_t domain_nodes_of(const std::optional<NodeSource>& node,
                                           std::int64_t nodes);
// Reads all keys of switches in /cluster. The node type gives missing values of the domain and of
// NVLS, but not of the domain if the scenario has a topology; it is then 1. A domain that does not
// divide the number of nodes is a problem.
void read_switches(io::Fields& fields, const ParseContext& context, Cluster& cluster);

} // namespace stepsim::study
