#pragma once
// A node type for the terminal: what the library model takes of it, with the source of each number.
#include <string>

#include "files/node_file.hpp"

namespace stepsim::cli {

// Names and notes of the file are made printable, because a file may hold control characters.
[[nodiscard]] std::string node_text(const io::NodePreset& preset);

} // namespace stepsim::cli
