#pragma once
// What a scenario or a collective says of the model of a collective library, read and resolved:
// restrictions, calibration, and the node type that both rates and choices follow from.
#include <optional>
#include <string>

#include "files/node_file.hpp"
#include "library/library_record.hpp"
#include "library/node_links.hpp"
#include "scenario/parse_context.hpp"
#include "json/json.hpp"

namespace stepsim::study {

struct LibrarySettings {
  library::LibraryOptions options{};
  const library::Calibration* calibration = nullptr; // of Files
  io::Json calibration_written{};                    // name or object as written, null = none
};

// The object `library`, or its short form, the name of a library. Problems are reported.
[[nodiscard]] LibrarySettings read_library(const io::Json& json, const ParseContext& context);

// The machine of a cluster: the preset, else the node type of the calibration.
struct NodeSource {
  library::NodeType type;
  library::NodeLinks links; // for schedules
  std::string written;      // the preset as written, "" where the calibration gives the node type
};

// `preset`: the value of the key, null if it is absent. Empty where neither gives a node type.
[[nodiscard]] std::optional<NodeSource>
node_source(const io::Json* preset, const LibrarySettings& settings, const ParseContext& context);

// The reason why the model cannot answer the question; empty where it can. One word of what it
// refuses stands for all: shape, node type, restrictions.
[[nodiscard]] std::optional<std::string> library_problem(const library::LibraryQuestion& question);

} // namespace stepsim::study
