#pragma once
// Constants of the commands of stepsim-calibrate. Their exit codes are those of stepsim
// (cli/shell/app.hpp) and kSkipped, for what this machine cannot do.
#include <string_view>

namespace stepsim::calibrate {

inline constexpr std::string_view kProgram = "stepsim-calibrate";
inline constexpr int kSkipped = 77; // exit code: a back end, device or privilege is missing

} // namespace stepsim::calibrate
