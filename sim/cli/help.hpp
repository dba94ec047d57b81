#pragma once
// Texts of --help: of the program (one sentence, commands in groups, examples) and of a command
// (usage, examples first, options in groups).
#include <string>

#include "cli/app.hpp"

namespace stepsim::cli {

[[nodiscard]] std::string program_help();
[[nodiscard]] std::string command_help(const CLI::App& app, const CommandText& text);

} // namespace stepsim::cli
