#pragma once
// The number of the summary that `solve` looks at, and the value it must reach. Not every run has
// every number: the errors here say which runs have it and how to get one.
#include <string>
#include <string_view>
#include <utility>

namespace stepsim::study {

// Throws UsageError, with the nearest key, unless it is a numeric key of the flat summary. Called
// before anything is run.
void require_metric(std::string_view metric);

// For a metric that no point has although none failed: UsageError that says which runs have it, or
// SimulationError where that is not known.
[[noreturn]] void throw_absent_metric(const std::string& metric);

// "METRIC=VALUE"; a unit in the value is converted by the metric's, a number alone is in SI units.
// Gives (metric, value). Throws UsageError.
[[nodiscard]] std::pair<std::string, double> parse_target(std::string_view text);

} // namespace stepsim::study
