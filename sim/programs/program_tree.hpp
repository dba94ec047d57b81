#pragma once
// A program as a file of kind program.
#include "programs/program_file.hpp"
#include "json/json.hpp"

namespace stepsim::study {

// Reading the file gives the same program, bit by bit. Times are resolved, so that the file needs
// no cluster.
[[nodiscard]] io::Json program_tree(const ProgramFile& file);

} // namespace stepsim::study
