#pragma once
// Writes a fabric as a Graphviz graph, for `dot -Tsvg`. Hosts are ellipses in the lowest row. A
// switch is a box in row h if its nearest host is h links away. Every cable is one edge, labelled
// with its rate in Gbit/s and its latency in us, or with two values if its directions differ.
#include <string>
#include <string_view>

#include "links/fabric/fabric.hpp"

namespace stepsim::cli {

// `text` as a quoted identifier of the DOT language; line ends become spaces.
[[nodiscard]] std::string dot_quoted(std::string_view text);

[[nodiscard]] std::string dot_text(const links::Fabric& fabric, std::string_view name);

} // namespace stepsim::cli
