#pragma once
// Writes a program as a file of kind program.
#include "document/json.hpp"
#include "scenario/program_file.hpp"

namespace stepsim::study {

// The tree of the file. parse_program() reads it back as the same program, bit by bit. All times
// are written as seconds, so that the file needs no cluster.
[[nodiscard]] io::Json program_tree(const ProgramFile& file);

} // namespace stepsim::study
