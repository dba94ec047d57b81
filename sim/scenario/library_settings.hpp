#pragma once
// Reads what a scenario or a collective says of a collective library: restrictions, calibration,
// and the node type that both rates and choices follow from.
#include <optional>
#include <string>

#include "scenario/node_source.hpp"
#include "scenario/parse_context.hpp"
#include "json/json.hpp"

namespace stepsim::study {

// The object `library`, or its short form, the name of a library. Problems are reported.
[[nodiscard]] LibrarySettings read_library(const io::Json& json, const ParseContext& context);

// `preset`: the value of the key, null if it is absent. Empty where neither gives a node type, and
// after a problem.
[[nodiscard]] std::optional<NodeSource>
node_source(const io::Json* preset, const LibrarySettings& settings, const ParseContext& context);

// Why the model cannot answer the question: the first reason among shape, node type and
// restrictions. Empty where it can.
[[nodiscard]] std::optional<std::string> library_problem(const library::LibraryQuestion& question);

} // namespace stepsim::study
