#pragma once
// The pieces of `solve`. Internal to study.
#include <string>
#include <string_view>

#include "ask/solve.hpp"

namespace stepsim::study {

// Throws UsageError, with the nearest, unless it is a numeric key of the flat summary.
void require_metric(std::string_view metric);
// For a metric that no point has although none failed: UsageError that says which runs have it.
[[noreturn]] void throw_absent_metric(const std::string& metric);

} // namespace stepsim::study
