#pragma once
// What `main` of each program does around its commands: Ctrl-C, and what commands throw as lines on
// standard error, one per problem, and an exit code (base/error.hpp).
#include <string>
#include <string_view>

namespace stepsim::cli {

// Runs `dispatch` and gives the exit code of the process.
[[nodiscard]] int run_program(int argc, char** argv, int (*dispatch)(int, char**));

// The folder of the running program; "" where the system does not tell.
[[nodiscard]] std::string program_folder();

// The folder with models/ and topologies/: beside the build folder, or ../share/stepsim when
// installed, or where the sources lay.
[[nodiscard]] std::string find_data_folder();

// The words as one could paste them into a shell.
[[nodiscard]] std::string command_line(std::string_view program, int argc, char** argv);

} // namespace stepsim::cli
