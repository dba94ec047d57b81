#pragma once
// Texts of --help: of the program (one sentence, commands in groups, examples) and of a command
// (usage, examples first, options in groups).
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "cli/shell/app.hpp"

namespace stepsim::cli {

[[nodiscard]] std::string program_help();
// Lines "  name   what it is" under a heading: the footer of an app, printed after its options.
using HelpRow = std::pair<std::string, std::string_view>;
[[nodiscard]] std::string help_list(std::string_view heading, std::span<const HelpRow> rows);
[[nodiscard]] std::string command_help(const CLI::App& app, const CommandText& text);

} // namespace stepsim::cli
