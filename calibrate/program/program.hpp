#pragma once
// Constants of the commands of stepsim-calibrate. The commands return the exit codes of stepsim
// (cli/shell/app.hpp), or kSkipped if this machine cannot do what was requested.
#include <string_view>

namespace stepsim::calibrate {

inline constexpr std::string_view kProgram = "stepsim-calibrate";
inline constexpr int kSkipped = 77; // exit code: a back end, device or privilege is missing

} // namespace stepsim::calibrate
