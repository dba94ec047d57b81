#include "study/sweep_point.hpp"

#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "study/run.hpp"

namespace stepsim::study {

namespace {

// Without the name of the scenario's own file: that differs between machines.
std::string error_text(const InputError& error, std::string_view scenario_file) {
  std::string text;
  for (base::Problem problem : error.problems()) {
    if (problem.file == scenario_file) {
      problem.file.clear();
    }
    const std::string one =
        problem.file.empty() ? problem.where + ": " + problem.message : problem.text();
    text += (text.empty() ? "" : "; ") + (one.starts_with(": ") ? one.substr(2) : one);
  }
  return text;
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::replace(text.begin(), text.end(), '\r', ' ');
  return text.empty() ? "failed" : text;
}

} // namespace

const PointOutcome& PointRunner::run(std::int64_t point) {
  outcome_.error.clear();
  try {
    const io::Json tree = scenario_at(sweep_.base, sweep_.grid, point);
    const Scenario scenario = parse_scenario(tree, files_, Leftovers::ignore);
    Result result = study::run(scenario);
    outcome_.summary = std::move(result.summary);
    outcome_.method = std::move(result.method);
    for (const std::string& warning : result.warnings) {
      ++warnings_[warning];
    }
  } catch (const InputError& error) {
    outcome_.error = one_line(error_text(error, sweep_.base.file()));
  } catch (const SimulationError& error) {
    outcome_.error = one_line(error.what());
  } catch (const UsageError& error) {
    outcome_.error = one_line(error.what());
  }
  return outcome_;
}

void check_some_point(const Sweep& sweep, Files& files) {
  constexpr std::int64_t kSamples = 16;
  const std::int64_t points = sweep.grid.points();
  const std::int64_t samples = std::min(points, kSamples);
  std::optional<InputError> first;
  for (std::int64_t i = 0; i < samples; ++i) {
    const std::int64_t point = i + 1 == samples ? points - 1 : points / samples * i;
    try {
      (void)parse_scenario(scenario_at(sweep.base, sweep.grid, point), files, Leftovers::ignore);
      return;
    } catch (const InputError& error) {
      if (!first) {
        first = error;
      }
    }
  }
  if (first) {
    throw InputError(*first);
  }
}

} // namespace stepsim::study
