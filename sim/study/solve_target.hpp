#pragma once
// The metric of `stepsim solve`, a number of the summary, and the value that it must reach. Not
// every run has every metric: the errors tell which runs have it, and how to change a scenario so
// that it has the metric.
#include <optional>
#include <string>
#include <string_view>

namespace stepsim::study {

// Throws UsageError that names the flag, with the nearest key, unless `metric` is a numeric key of
// the flat summary. `solve` calls it before it runs anything.
void require_metric(std::string_view flag, std::string_view metric);

// Reports a metric of a flag that no point has although none failed. Throws UsageError with the
// runs that do have the metric, or SimulationError if they are not known.
[[noreturn]] void throw_absent_metric(std::string_view flag, const std::string& metric);

// A value that a metric must reach, and whether that means at least the value or at most; empty if
// the text does not say it.
struct Target {
  std::string metric;
  double value{};
  std::optional<bool> at_least;
};

// Parses "METRIC=VALUE" into the metric and its value in SI units. "METRIC<=VALUE" and
// "METRIC>=VALUE" also say which side of the value meets the target. VALUE may have a unit that
// suits the metric, as in "iteration_time_s=50ms"; a plain number is in SI units. Throws UsageError
// if the text is not of this form, if VALUE has a unit that does not suit the metric, and as
// require_metric() does.
[[nodiscard]] Target parse_target(std::string_view text);

} // namespace stepsim::study
