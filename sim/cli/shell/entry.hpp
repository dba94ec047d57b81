#pragma once
// The part of `main` that all programs share: handles Ctrl-C, prints the exceptions of commands on
// standard error, one line per problem, and turns them into exit codes (base/error.hpp).

#include <string>
#include <string_view>

namespace stepsim::cli {

inline constexpr int kSkipped = 77; // exit code: a back end, device or privilege is missing

// Runs `dispatch` and returns the exit code of the process.
[[nodiscard]] int run_program(int argc, char** argv, int (*dispatch)(int, char**));

// Prints the exception that is being handled as run_program() does, in the colours of --color, and
// returns its exit code.
[[nodiscard]] int report_thrown(std::string_view color = "auto");

// The folder of the running program; "" if it cannot be found.
[[nodiscard]] std::string program_folder();

// The folder with models/ and topologies/. Tries, relative to the folder of the program, .. (for a
// build folder) and ../share/stepsim (for an installation), else returns the source folder of the
// build.
[[nodiscard]] std::string find_data_folder();

// The program and its arguments as one line that a shell reads back (base/shell_word.hpp).
[[nodiscard]] std::string command_line(std::string_view program, int argc, char** argv);

// Version and source revision of this binary.

[[nodiscard]] std::string_view version();  // "0.1.0"
[[nodiscard]] std::string_view git_hash(); // "b95bffd", "b95bffd-dirty", "unknown"
// The text of `stepsim --version`.
[[nodiscard]] std::string version_text();

} // namespace stepsim::cli
