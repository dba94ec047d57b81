#pragma once
// Texts of --help, for the program (one sentence, commands in groups, examples) and for a command
// (usage, examples, options in groups).

#include "cli/help/command_page.hpp"

namespace stepsim::cli {

[[nodiscard]] std::string program_help();
// Lines "  name   description" under a heading: the footer of an app, printed after its options.
using HelpRow = std::pair<std::string, std::string_view>;
[[nodiscard]] std::string help_list(std::string_view heading, std::span<const HelpRow> rows);
[[nodiscard]] std::string command_help(const CommandPage& page);

// Exit codes of stepsim, in one sentence.
inline constexpr std::string_view kExitCodes =
    "Exit codes: 0 ok, 1 simulation error, 2 usage, 3 bad input file, 4 target not met,"
    " 130 interrupted, 141 standard output closed.";

// If stepsim is installed, replaces paths of shipped files in `text`, such as docs/file-formats.md,
// by their paths on this machine; in a build folder `text` stays as it is. `data_folder` holds
// models/.
[[nodiscard]] std::string with_installed_places(std::string text, const std::string& data_folder);

} // namespace stepsim::cli
