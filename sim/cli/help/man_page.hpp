#pragma once
// Man pages in roff (man 7), from the same pages as --help.
#include <string>

#include "cli/help/program_page.hpp"

namespace stepsim::cli {

// The page of a program: its commands and exit codes.
[[nodiscard]] std::string man_page(const ProgramPage& program);
// The page of one of its commands, NAME-COMMAND(1).
[[nodiscard]] std::string man_page(const ProgramPage& program, const ProgramPage::Row& row);
// One page with all commands, for a program with few of them.
[[nodiscard]] std::string whole_man_page(const ProgramPage& program);

} // namespace stepsim::cli
