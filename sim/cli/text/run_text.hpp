#pragma once
// A result as `stepsim run` shows it to people: setting, times in milliseconds, buckets.
#include <string>

#include "run/result.hpp"

namespace stepsim::cli {

[[nodiscard]] std::string run_text(const study::Result& result);

} // namespace stepsim::cli
