#pragma once
// A topology for the terminal: its parameters, its kinds of cables, and what it can do.
#include <string>

#include "net/profile/profile.hpp"

namespace stepsim::cli {

[[nodiscard]] std::string topology_text(const net::Topology& topology, const std::string& note);

} // namespace stepsim::cli
