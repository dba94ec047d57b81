#pragma once
// Completion scripts for bash, zsh and fish. They ask the program for words (completion.hpp), so
// that a new command or key needs no change of the scripts.
#include <string>
#include <string_view>

namespace stepsim::cli {

// Each returns the text of a script. `program` is the name of the program to complete, such as
// "stepsim-calibrate".
[[nodiscard]] std::string bash_script(std::string_view program);
[[nodiscard]] std::string zsh_script(std::string_view program);
[[nodiscard]] std::string fish_script(std::string_view program);

} // namespace stepsim::cli
