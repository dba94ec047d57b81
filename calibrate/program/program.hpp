#pragma once
// What the commands of stepsim-calibrate share besides cli/shell. Exit codes are those of stepsim,
// with one more for what this machine cannot do.
#include <string_view>

namespace stepsim::calibrate {

inline constexpr std::string_view kProgram = "stepsim-calibrate";
inline constexpr int kSkipped = 77; // exit code: a back end, device or privilege is missing

} // namespace stepsim::calibrate
