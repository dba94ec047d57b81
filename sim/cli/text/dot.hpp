#pragma once
// Writes networks and programs as graphs in the language of Graphviz.

#include "links/fabric/fabric.hpp"
#include "programs/explain/binding_path.hpp"

namespace stepsim::cli {

// Writes a fabric as a Graphviz graph, for `dot -Tsvg`. Hosts are ellipses in the lowest row. A
// switch is a box in row h if its nearest host is h links away. Every cable is one edge, labelled
// with its rate in Gbit/s and its latency in us, or with two values if its directions differ.

// `text` as a quoted identifier of the DOT language; line ends become spaces.
[[nodiscard]] std::string dot_quoted(std::string_view text);

[[nodiscard]] std::string dot_text(const links::Fabric& fabric, std::string_view name);

// Writes a program as input for Graphviz (`dot -Tsvg`). Operations are boxes in the order of the
// list, with one cluster per stream. An edge leads from the awaited operation to the waiting one;
// if the awaited operation is of an earlier iteration, the edge is dashed and shows the distance.
// The binding path is drawn bold.

[[nodiscard]] std::string program_dot(const programs::Program& program,
                                      const programs::BindingPath& path, std::string_view name);

} // namespace stepsim::cli
