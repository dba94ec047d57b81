#pragma once
// Reads the settings of a collective library in a scenario or a collective: restrictions,
// calibration, and the node type that determines rates and choices.
#include <optional>
#include <string>

#include "document/json.hpp"
#include "scenario/node_source.hpp"
#include "scenario/parse_context.hpp"

namespace stepsim::study {

// Reads the object `library`, or its short form, the name of a library. Problems are reported.
[[nodiscard]] LibrarySettings read_library(const io::Json& json, const ParseContext& context);

// The node type that the key `preset` names or, if `preset` is null because the key is absent, the
// node type of the calibration. Empty if there is neither, and after a problem.
[[nodiscard]] std::optional<NodeSource>
node_source(const io::Json* preset, const LibrarySettings& settings, const ParseContext& context);

// The reason why the model cannot answer: the first problem of shape, node type and restrictions.
// Empty if it can.
[[nodiscard]] std::optional<std::string> library_problem(const nccl::LibraryQuestion& question);

} // namespace stepsim::study
