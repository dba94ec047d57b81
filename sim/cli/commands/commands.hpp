#pragma once
// The table of commands, in the order and groups of `stepsim --help`. A new command is a file
// NAME_command.cpp with its header, and one row in commands.cpp.
#include <span>
#include <string>
#include <string_view>

#include "cli/shell/app.hpp"

namespace stepsim::cli {

struct Command {
  std::string_view group;
  std::string_view name;
  std::string_view summary;      // one line of `stepsim --help`
  int (*run)(const Invocation&); // returns the exit code; errors are exceptions (shell/entry.hpp)
};

// All commands; the rows of a group follow one another.
[[nodiscard]] std::span<const Command> commands();

// The command of this name. Throws UsageError for an unknown name, with the nearest known one.
[[nodiscard]] const Command& find_command(const std::string& name);

} // namespace stepsim::cli
