#include "study/solve.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/number_text.hpp"
#include "base/quantity.hpp"
#include "study/crossings.hpp"
#include "study/grid.hpp"
#include "study/result.hpp"
#include "study/scenario.hpp"

namespace stepsim::study {

namespace {

void require_metric(std::string_view metric) {
  std::vector<std::string_view> known;
  for (const SummaryField& field : summary_fields()) {
    known.push_back(field.key);
  }
  if (std::ranges::find(known, metric) == known.end()) {
    std::ranges::sort(known);
    throw UsageError("--target: " + base::unknown_word("metric", metric, known));
  }
}

// A field refuses fractions if the reader of scenarios says so.
bool takes_integers(const SolveProblem& problem, Files& files) {
  io::Json tree = problem.scenario;
  const double low = problem.low.as_double();
  io::assign(tree, problem.pointer, std::floor(low) + 0.5);
  try {
    (void)parse_scenario(tree, files, Leftovers::ignore);
    return false;
  } catch (const InputError& error) {
    return std::ranges::any_of(error.problems(), [&](const base::Problem& each) {
      return each.where == problem.pointer && each.message.find("an integer") != std::string::npos;
    });
  }
}

io::Json field_value(double value, bool integers) {
  return integers ? io::Json(static_cast<std::int64_t>(value)) : io::Json(value);
}

// Times are met from above.
bool higher_is_better(std::string_view metric) {
  return !metric.ends_with("_s") || metric.ends_with("_per_s");
}

SolvePoint point_of(const io::Json& record, io::Json value, const std::string& metric) {
  SolvePoint point{std::move(value), number_in(record, metric), error_in(record)};
  if (!point.metric_value && point.error.empty()) {
    point.error = metric + " has no value here";
  }
  return point;
}

std::vector<SolvePoint> run_points(const SolveProblem& problem, std::vector<io::Json> values,
                                   Files& files, const RowsOptions& options,
                                   std::vector<std::string>& warnings) {
  const Sweep sweep = sweep_over(problem.scenario, {{problem.pointer, values}});
  const Rows rows = rows_of(sweep, files, options);
  for (const std::string& warning : rows.warnings) {
    if (std::ranges::find(warnings, warning) == warnings.end()) {
      warnings.push_back(warning);
    }
  }
  std::vector<SolvePoint> points;
  for (std::size_t i = 0; i < values.size(); ++i) {
    points.push_back(point_of(rows.records[i], std::move(values[i]), problem.metric));
  }
  return points;
}

// Points that failed: one warning for all, and one where a crossing may hide between them.
void warn_of_failures(const SolveProblem& problem, Solution& solution) {
  std::int64_t failed = 0;
  const SolvePoint* first = nullptr;
  const SolvePoint* before = nullptr; // the last that did not fail
  bool gap = false;
  for (const SolvePoint& point : solution.points) {
    if (!point.metric_value) {
      first = first == nullptr ? &point : first;
      ++failed;
      gap = true;
      continue;
    }
    if (gap && before != nullptr &&
        (*before->metric_value < problem.target) != (*point.metric_value < problem.target)) {
      solution.warnings.push_back(problem.metric + " passes the target between " +
                                  io::compact(before->value) + " and " + io::compact(point.value) +
                                  ", where points fail: not located");
    }
    before = &point;
    gap = false;
  }
  if (failed > 0) {
    solution.warnings.push_back(std::to_string(failed) + " of " +
                                std::to_string(solution.points.size()) + " points failed, first " +
                                io::compact(first->value) + ": " + first->error);
  }
  if (failed == static_cast<std::int64_t>(solution.points.size())) {
    throw SimulationError("no point has " + problem.metric + ": " + first->error);
  }
}

std::optional<SolvePoint> closest_point(const SolveProblem& problem, const Solution& solution) {
  std::optional<SolvePoint> closest;
  double least = HUGE_VAL;
  for (const SolvePoint& point : solution.points) {
    const double by =
        point.metric_value ? std::abs(*point.metric_value - problem.target) : HUGE_VAL;
    if (by < least) {
      least = by;
      closest = point;
    }
  }
  return closest;
}

} // namespace

Solution solve(const SolveProblem& problem, Files& files, const RowsOptions& options) {
  require_metric(problem.metric);
  CrossingSearch search{.low = problem.low.as_double(),
                        .high = problem.high.as_double(),
                        .target = problem.target,
                        .integers = takes_integers(problem, files),
                        .at_least = higher_is_better(problem.metric)};
  for (const double bound : {search.low, search.high}) {
    if (search.integers && bound != std::floor(bound)) {
      throw UsageError("--between: " + problem.pointer + " takes integers, got " +
                       base::shortest(bound));
    }
  }
  Solution solution;
  std::vector<io::Json> values;
  for (const double value : scan_values(search, problem.points)) {
    values.push_back(field_value(value, search.integers));
  }
  solution.points = run_points(problem, std::move(values), files, options, solution.warnings);
  warn_of_failures(problem, solution);
  solution.closest = closest_point(problem, solution);

  std::vector<Sample> scan;
  for (const SolvePoint& point : solution.points) {
    scan.push_back({point.value.as_double(), point.metric_value});
  }
  const auto evaluate = [&](double at) {
    try {
      return run_points(problem, {field_value(at, search.integers)}, files, {}, solution.warnings)
          .front()
          .metric_value;
    } catch (const InputError&) { // refused at this value, as scanned points can be
      return std::optional<double>();
    }
  };
  for (const Crossing& crossing : find_crossings(search, scan, evaluate)) {
    SolveCrossing found{{field_value(crossing.at, search.integers), crossing.value, ""},
                        crossing.rising,
                        std::nullopt};
    if (crossing.beyond) {
      found.beyond = {field_value(crossing.beyond->at, search.integers), crossing.beyond->value,
                      ""};
    }
    solution.crossings.push_back(std::move(found));
  }
  return solution;
}

io::Json solution_tree(const SolveProblem& problem, const Solution& solution) {
  const auto number = [](const std::optional<double>& value) {
    return value ? io::Json(*value) : io::Json();
  };
  io::Array crossings;
  for (const SolveCrossing& crossing : solution.crossings) {
    io::Json entry(io::Object{{"value", crossing.point.value},
                              {"metric_value", number(crossing.point.metric_value)},
                              {"direction", crossing.rising ? "rising" : "falling"}});
    if (crossing.beyond) {
      entry.set("beyond", io::Object{{"value", crossing.beyond->value},
                                     {"metric_value", number(crossing.beyond->metric_value)}});
    }
    crossings.push_back(std::move(entry));
  }
  io::Array points;
  for (const SolvePoint& point : solution.points) {
    io::Json entry(
        io::Object{{"value", point.value}, {"metric_value", number(point.metric_value)}});
    if (!point.error.empty()) {
      entry.set("error", point.error);
    }
    points.push_back(std::move(entry));
  }
  return io::Object{
      {"pointer", problem.pointer},
      {"target", io::Object{{"metric", problem.metric}, {"value", problem.target}}},
      {"crossings", std::move(crossings)},
      {"points", std::move(points)},
      {"warnings", io::Array(solution.warnings.begin(), solution.warnings.end())},
  };
}

std::pair<std::string, double> parse_target(std::string_view text) {
  const std::string shown = base::shown_value(text, 80);
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw UsageError("--target " + shown + ": must be METRIC=VALUE, e.g. scaling_efficiency=0.9");
  }
  std::string metric(text.substr(0, equals));
  require_metric(metric);
  const auto kind = metric == "samples_per_s" ? std::nullopt : base::kind_of_key(metric);
  const auto value = base::parse_quantity(
      text.substr(equals + 1), kind.value_or(base::QuantityKind::ratio), base::BareNumber::si);
  if (const auto* message = std::get_if<std::string>(&value)) {
    throw UsageError("--target " + shown + ": " + *message);
  }
  return {std::move(metric), std::get<double>(value)};
}

} // namespace stepsim::study
