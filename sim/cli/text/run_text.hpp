#pragma once
// A result as `stepsim run` shows it to people: setting, times in milliseconds, buckets.
#include <string>

#include "run/result.hpp"

namespace stepsim::cli {

// Parts that the result does not have are left out, and at most 40 buckets are listed. Words that
// users wrote are made printable.
[[nodiscard]] std::string run_text(const study::Result& result);

} // namespace stepsim::cli
