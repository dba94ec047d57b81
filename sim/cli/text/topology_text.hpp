#pragma once
// A topology for the terminal: its parameters, its kinds of cables, and what it can do.
#include <string>

#include "net/profile/profile.hpp"

namespace stepsim::cli {

// Latencies in microseconds, rates in GB/s (1e9 bytes). `note` says where the topology comes from
// and may be empty.
[[nodiscard]] std::string topology_text(const net::Topology& topology, const std::string& note);

} // namespace stepsim::cli
