#pragma once
// Describes a topology for the terminal: its parameters, kinds of cables, and capacity.
#include <string>

#include "links/profile/profile.hpp"

namespace stepsim::cli {

// Latencies are in us, rates in GB/s (1e9 bytes/s). `note`, which may be empty, says where the
// topology comes from.
[[nodiscard]] std::string topology_text(const links::Topology& topology, const std::string& note);

} // namespace stepsim::cli
