#pragma once
// stepsim help [COMMAND]: prints the help of the program and its commands as text, man pages, shell
// completion scripts or JSON.

#include "cli/help/command_page.hpp"

namespace stepsim::cli {

// Returns kOk. Throws UsageError for an unknown command.
[[nodiscard]] int help(const Invocation& invocation);

// Runs the command `help` of another program, such as stepsim-calibrate.
[[nodiscard]] int help_of(const Invocation& invocation, const ProgramPage& program);

// The page of the command that `run` implements; the command itself does not run.
[[nodiscard]] CommandPage page_of_command(int (*run)(const Invocation&),
                                          const std::string& data_folder);

} // namespace stepsim::cli
