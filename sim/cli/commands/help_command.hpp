#pragma once
// stepsim help [COMMAND]: the help of the program and its commands as text, man pages, completion
// scripts and JSON.
#include <string>

#include "cli/help/program_page.hpp"
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Returns kOk. Throws UsageError for an unknown command.
[[nodiscard]] int help(const Invocation& invocation);

// The same for another program.
[[nodiscard]] int help_of(const Invocation& invocation, const ProgramPage& program);

// The page of the command that `run` is; nothing runs.
[[nodiscard]] CommandPage page_of_command(int (*run)(const Invocation&),
                                          const std::string& data_folder);

} // namespace stepsim::cli
