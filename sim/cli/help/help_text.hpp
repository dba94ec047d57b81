#pragma once
// Texts of --help: of the program (one sentence, commands in groups, examples) and of a command
// (usage, examples first, options in groups).
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "cli/help/command_page.hpp"

namespace stepsim::cli {

[[nodiscard]] std::string program_help();
// Lines "  name   what it is" under a heading: the footer of an app, printed after its options.
using HelpRow = std::pair<std::string, std::string_view>;
[[nodiscard]] std::string help_list(std::string_view heading, std::span<const HelpRow> rows);
[[nodiscard]] std::string command_help(const CommandPage& page);

// Exit codes of stepsim, in one sentence.
inline constexpr std::string_view kExitCodes =
    "Exit codes: 0 ok, 1 simulation error, 2 usage, 3 bad input file, 4 target not met,"
    " 130 interrupted, 141 standard output closed.";

// `text` with the paths of shipped files, such as docs/file-formats.md, as they lie on this machine
// where stepsim is installed; unchanged in a build folder. `data_folder` holds models/.
[[nodiscard]] std::string with_installed_places(std::string text, const std::string& data_folder);

} // namespace stepsim::cli
