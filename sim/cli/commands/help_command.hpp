#pragma once
// stepsim help [COMMAND]: prints the help of the program and its commands as text, man pages, shell
// completion scripts or JSON.

#include "cli/commands/commands.hpp"

namespace stepsim::cli {

// Returns kOk. Throws UsageError for an unknown command.
[[nodiscard]] int help(const Invocation& invocation);

// Runs the command `help` of a program. Throws UsageError, too, for a command that this build has
// not.
[[nodiscard]] int help_of(const Invocation& invocation, const ProgramTable& of);

} // namespace stepsim::cli
