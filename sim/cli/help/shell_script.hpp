#pragma once
// Completion for bash, zsh and fish: short scripts that ask the program (completion.hpp), so that
// they need no change when a command or a key does.
#include <string>
#include <string_view>

namespace stepsim::cli {

// `program`: the name of the command that is completed, "stepsim-calibrate".
[[nodiscard]] std::string bash_script(std::string_view program);
[[nodiscard]] std::string zsh_script(std::string_view program);
[[nodiscard]] std::string fish_script(std::string_view program);

} // namespace stepsim::cli
