#pragma once
// The output of `stepsim run` for the terminal: settings, times in ms, buckets.
#include <string>

#include "cli/shell/table.hpp"
#include "run/result.hpp"

namespace stepsim::cli {

// Leaves out parts that the result does not have, and lists at most 40 buckets. Control characters
// in text of users are escaped.
[[nodiscard]] std::string run_text(const study::Result& result);

// The first buckets in launch order, at most `most`.
[[nodiscard]] Table buckets_table(const study::Result& result, std::size_t most);

} // namespace stepsim::cli
