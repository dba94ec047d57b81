#pragma once
// The explanation of a program or scenario for the terminal: sentences first, then tables.
#include <string>

#include "programs/explained.hpp"

namespace stepsim::cli {

// What `stepsim run` prints of a file of kind program: times, and where the period goes by kind and
// by link.
[[nodiscard]] std::string program_text(const study::Explained& explained);

// What `stepsim explain` prints.
[[nodiscard]] std::string explain_text(const study::Explained& explained);

} // namespace stepsim::cli
