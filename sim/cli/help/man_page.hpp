#pragma once
// Writes man pages in roff (man 7), from the pages that --help uses.
#include <string>

#include "cli/help/program_page.hpp"

namespace stepsim::cli {

// The page of a program, with its commands and exit codes.
[[nodiscard]] std::string man_page(const ProgramPage& program);
// The page NAME-COMMAND(1) of one command of the program.
[[nodiscard]] std::string man_page(const ProgramPage& program, const ProgramPage::Row& row);
// One page with all commands, for a program with few commands.
[[nodiscard]] std::string whole_man_page(const ProgramPage& program);

} // namespace stepsim::cli
