#pragma once
// A result as `stepsim run` shows it to people: setting, times in milliseconds, buckets.
#include <string>

#include "cli/shell/table.hpp"
#include "run/result.hpp"

namespace stepsim::cli {

// Parts that the result does not have are left out, and at most 40 buckets are listed. Words that
// users wrote are made printable.
[[nodiscard]] std::string run_text(const study::Result& result);

// The first buckets in launch order, at most `most`.
[[nodiscard]] Table buckets_table(const study::Result& result, std::size_t most);

} // namespace stepsim::cli
