#pragma once
// The commands of stepsim-calibrate, each in its own file.
#include "cli/shell/app.hpp"

namespace stepsim::calibrate {

inline constexpr std::string_view kProgram = "stepsim-calibrate";
inline constexpr int kSkipped = 77; // a back end, device or privilege is missing

int fit(const cli::Invocation& invocation);
int report(const cli::Invocation& invocation);

// Null where the back end could not be built.
using CommandFunction = int (*)(const cli::Invocation&);
[[nodiscard]] CommandFunction cuda_command();
[[nodiscard]] CommandFunction mpi_command();
[[nodiscard]] CommandFunction replay_command();

} // namespace stepsim::calibrate
