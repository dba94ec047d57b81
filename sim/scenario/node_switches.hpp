#pragma once
// The keys of switches: those that join machines to one node, and those that add, in a node (NVLS)
// or in the network. A scenario has them in /cluster, a collective at its root.
#include <optional>

#include "scenario/parse_context.hpp"

namespace stepsim::study {

// Empty where nvls_Bps is not given.
[[nodiscard]] std::optional<coll::NvlsCost> read_nvls(io::Fields& fields);
// Seconds; empty where switch_latency_s is not given.
[[nodiscard]] std::optional<double> read_switch_latency(io::Fields& fields);
// All of /cluster. A domain that does not divide the nodes is a problem.
void read_switches(io::Fields& fields, const ParseContext& context, Cluster& cluster);

} // namespace stepsim::study
