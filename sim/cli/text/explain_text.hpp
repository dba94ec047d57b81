#pragma once
// Writes the explanation of a program or scenario for the terminal: sentences first, then tables.
#include <string>

#include "study/explained.hpp"

namespace stepsim::cli {

// The output of `stepsim run` for a file of kind program: times, and how the period is spent by
// kind of operation and by link.
[[nodiscard]] std::string program_text(const study::Explained& explained);

// What the gain of a change is at 80 % of all sites, "9.1 % to 12 %"; "-" without a range.
[[nodiscard]] std::string gain_range_cell(const study::WhatIf& change);

// The output of `stepsim explain`.
[[nodiscard]] std::string explain_text(const study::Explained& explained);

} // namespace stepsim::cli
