#pragma once
// A fabric as text for Graphviz: `dot -Tsvg`. Hosts are ellipses on the lowest row, switches boxes
// above them, one row per level (links to the nearest host); one edge per cable with its rate in
// Gbit/s and its latency in us, of both directions where they differ.
#include <string>
#include <string_view>

#include "net/fabric/fabric.hpp"

namespace stepsim::io {

// A quoted id of the DOT language, in one line.
[[nodiscard]] std::string dot_quoted(std::string_view text);

[[nodiscard]] std::string dot_text(const net::Fabric& fabric, std::string_view name);

} // namespace stepsim::io
