#pragma once
// Describes a node type for the terminal: the inputs of the library model, with their sources.
#include <string>

#include "scenario/files/node_file.hpp"

namespace stepsim::cli {

// Control characters in names and notes of the file are escaped.
[[nodiscard]] std::string node_text(const io::NodePreset& preset);

} // namespace stepsim::cli
