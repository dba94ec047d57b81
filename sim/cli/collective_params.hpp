#pragma once
// `--param NAME=VALUE`: the rare switches of a collective, in a scenario keys of `communication`.
#include <string>
#include <string_view>

#include "coll/collective.hpp"

namespace stepsim::cli {

// Throws UsageError with the nearest known name or word.
void apply_param(coll::Options& options, std::string_view text);
[[nodiscard]] std::string params_help();

} // namespace stepsim::cli
