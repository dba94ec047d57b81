#pragma once
// The number of the summary that `solve` looks at, and the value it must reach. Not every run has
// every number: the errors say which runs have the number and how to make a scenario one of them.
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

// Parses "METRIC=VALUE" into the metric and its value in SI units. VALUE may have a unit that suits
// the metric, "iteration_time_s=50ms"; a number alone is in SI units. Throws UsageError.
[[nodiscard]] std::pair<std::string, double> parse_target(std::string_view text);

} // namespace stepsim::study
