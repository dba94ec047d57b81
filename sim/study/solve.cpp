// The field is scanned as a sweep in parallel; between two scanned points on different sides of the
// target single runs close in. A point that fails is a gap: crossings next to it are not looked
// for, and a warning says where one may hide.

#include "study/solve.hpp"

#include "document/fields/members.hpp"
#include "document/json_text.hpp"
#include "study/crossings.hpp"
#include "study/sweep/assumed.hpp"
#include "study/sweep/ranking.hpp"
#include "study/tune_values.hpp"

namespace stepsim::study {

namespace {

io::Json field_value(double value, bool integers) {
  return integers ? io::Json(static_cast<std::int64_t>(value)) : io::Json(value);
}

// Whether the metric is greater where the iteration is shorter.
bool is_rate(std::string_view metric) {
  constexpr std::array<std::string_view, 3> kRates{"samples_per_s", "speedup",
                                                   "scaling_efficiency"};
  return std::ranges::find(kRates, metric) != kRates.end();
}

// The metric, where the iteration takes the time under `time_key` instead of its own.
std::optional<double> metric_at(const io::Json& record, const std::string& metric,
                                std::string_view time_key) {
  const auto value = number_in(record, metric);
  const auto time = number_in(record, kIterationTime);
  const auto other = number_in(record, time_key);
  if (!value || !time || !other || *time <= 0 || *other <= 0) {
    return std::nullopt;
  }
  if (metric == kIterationTime) {
    return other;
  }
  if (metric == "time_to_finish_s" || metric == "cost_usd") {
    return *value * *other / *time;
  }
  return is_rate(metric) ? std::optional(*value * *time / *other) : std::nullopt;
}

SolvePoint point_of(const io::Json& record, io::Json value, const SolveProblem& problem) {
  const std::string& metric = problem.metric;
  return {.value = std::move(value),
          .metric_value = number_in(record, metric),
          .at_low_time = metric_at(record, metric, "iteration_time_low_s"),
          .at_high_time = metric_at(record, metric, "iteration_time_high_s"),
          .minimized = number_in(record, problem.minimize),
          .exceeds_memory = exceeds_memory(record),
          .error = error_in(record)};
}

// One run per value of the field; warnings are collected, each once.
std::vector<SolvePoint> solve_points(const SolveProblem& problem,
                                     const std::vector<io::Json>& values, Files& files,
                                     const SweepOptions& options,
                                     std::vector<std::string>& warnings) {
  return base::collected<SolvePoint>(
      run_points(problem.scenario, problem.pointer, values, files, options, warnings),
      [&](const TunePoint& point) { return point_of(point.record, point.value, problem); });
}

// Why a point has no value.
std::string reason_of(const SolveProblem& problem, const SolvePoint& point) {
  return point.error.empty() ? problem.metric + " has no value here" : point.error;
}

// Reports a metric of a flag that no point has although none failed. Throws UsageError with the
// runs that do have the metric, or SimulationError if they are not known.
[[noreturn]] void throw_absent_metric(std::string_view flag, const std::string& metric) {
  const SummaryRuns needs = std::ranges::find(kSummaryFields, metric, &SummaryField::key)->only_in;
  if (needs.runs.empty()) {
    throw SimulationError("no point has " + metric);
  }
  throw UsageError(std::string(flag) + " " + metric + ": only " + std::string(needs.runs) +
                   " has " + metric + "; add --set " + std::string(needs.setting));
}

// Points that failed: one warning for all, and one where a crossing may hide between them.
// `gap` is true while the last points failed; a change of side across such a gap may be a crossing.
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
  if (failed == static_cast<std::int64_t>(solution.points.size())) {
    const auto fails = [](const SolvePoint& point) { return !point.error.empty(); };
    const auto error = std::ranges::find_if(solution.points, fails);
    if (error == solution.points.end()) {
      throw_absent_metric("--target", problem.metric);
    }
    throw SimulationError("no point has " + problem.metric + ": " + error->error);
  }
  if (failed > 0) {
    solution.warnings.push_back(fmt::format("{} of {} points failed, first {}: {}", failed,
                                            solution.points.size(), io::compact(first->value),
                                            reason_of(problem, *first)));
  }
}

// For the message where nothing crosses.
std::optional<SolvePoint> closest_point(const SolveProblem& problem, const Solution& solution) {
  const auto distance = [&](const SolvePoint& point) {
    return point.metric_value ? std::abs(*point.metric_value - problem.target) : HUGE_VAL;
  };
  const auto closest = std::ranges::min_element(solution.points, {}, distance);
  return distance(*closest) < HUGE_VAL ? std::optional(*closest) : std::nullopt;
}

// The crossing of the same direction that is nearest, by the logarithm: of those at smaller values
// (`side` -1) or at larger ones (1), or at the crossing itself but for the width of brackets.
const Crossing* nearest_to(const Crossing& crossing, const std::vector<Crossing>& others,
                           int side) {
  constexpr double kSame = 1e-8;
  const Crossing* nearest = nullptr;
  const auto distance = [&](const Crossing& other) {
    return std::abs(std::log(std::max(1e-300, other.at) / std::max(1e-300, crossing.at)));
  };
  for (const Crossing& other : others) {
    if (other.rising == crossing.rising &&
        side * (other.at - crossing.at) >= -kSame * std::abs(crossing.at) &&
        (nearest == nullptr || distance(other) < distance(*nearest))) {
      nearest = &other;
    }
  }
  return nearest;
}

// `above`: crossings of the greater end of the metric's interval, `below`: of the less one. The
// greater end reaches the target first where the metric rises, and leaves it last where it falls;
// an end that does not reach the target within the bounds leaves its side open. Both may lie at the
// crossing itself, or beside it by the width of a refined bracket.
std::pair<io::Json, io::Json> range_of(const Crossing& crossing, const std::vector<Crossing>& above,
                                       const std::vector<Crossing>& below, bool integers) {
  const Crossing* first = nearest_to(crossing, crossing.rising ? above : below, -1);
  const Crossing* last = nearest_to(crossing, crossing.rising ? below : above, 1);
  std::pair<io::Json, io::Json> range;
  if (first != nullptr) {
    range.first = field_value(std::min(first->at, crossing.at), integers);
  }
  if (last != nullptr) {
    range.second = field_value(std::max(last->at, crossing.at), integers);
  }
  return range;
}

constexpr auto point_tree = io::tree_of<&SolvePoint::value, &SolvePoint::metric_value>;

} // namespace

void require_field(const io::Json& scenario, const std::string& pointer, Files& files) {
  const io::Json tree =
      with_value(scenario, pointer, nullptr); // whatever it is, a key is known or not
  for (const base::Problem& each : problems_of(tree, files, Leftovers::ignore)) {
    const bool is_parent = pointer.starts_with(each.where + "/");
    if (each.message.starts_with("unknown key") && (each.where == pointer || is_parent)) {
      throw UsageError(pointer + ": " + (is_parent ? each.where + ": " : "") + each.message);
    }
  }
}

// The metric is checked before anything runs. Refinement runs one point at a time: each depends on
// the result of the one before.
Solution solve(const SolveProblem& problem, Files& files, const SweepOptions& options) {
  const SummaryField& figure = require_metric("--target", problem.metric);
  require_effect(sweep_over(problem.scenario, {{problem.pointer, {problem.low, problem.high}}}),
                 files);
  CrossingSearch search{.low = problem.low.as_double(),
                        .high = problem.high.as_double(),
                        .target = problem.target,
                        .integers = takes_integers(problem.pointer).value_or(false),
                        .at_least = problem.at_least.value_or(figure.is_better_high)};
  for (const double bound : {search.low, search.high}) {
    if (search.integers && bound != std::floor(bound)) {
      throw UsageError("--between: " + problem.pointer + " takes integers, got " +
                       base::shortest(bound));
    }
  }
  std::optional<std::int64_t> most = problem.points;
  if (!problem.minimize.empty()) {
    require_metric("--minimize", problem.minimize);
    constexpr double kMostValues = 100'000;
    if (!search.integers || search.high - search.low >= kMostValues) {
      throw UsageError("--minimize tries every value: " + problem.pointer +
                       " must take integers, and at most 100000 may lie between the bounds");
    }
    most = static_cast<std::int64_t>(search.high - search.low) + 1;
  }
  Solution solution;
  const auto values = base::collected<io::Json>(
      scan_values(search, most), [&](double value) { return field_value(value, search.integers); });
  solution.points = solve_points(problem, values, files, options, solution.warnings);
  warn_of_failures(problem, solution);
  solution.closest = closest_point(problem, solution);
  if (!problem.minimize.empty() &&
      std::ranges::none_of(solution.points,
                           [](const SolvePoint& point) { return point.minimized.has_value(); })) {
    throw_absent_metric("--minimize", problem.minimize);
  }
  const auto meets = [&](const SolvePoint& point) {
    const double over = point.metric_value.value_or(0) - problem.target;
    return point.metric_value && (search.at_least ? over >= 0 : over <= 0);
  };
  solution.met_everywhere = problem.at_least && std::ranges::all_of(solution.points, meets);
  for (const SolvePoint& point : solution.points) {
    if (meets(point) && point.minimized && !point.exceeds_memory &&
        (!solution.best || *point.minimized < *solution.best->minimized)) {
      solution.best = point;
    }
  }

  const SweepOptions alone{.max_seconds = options.max_seconds};
  using Reading = std::optional<double> SolvePoint::*;
  const auto crossings_of = [&](Reading reading) {
    const auto scan = base::collected<Sample>(solution.points, [&](const SolvePoint& point) {
      return Sample{point.value.as_double(), point.*reading};
    });
    const auto evaluate = [&](double at) {
      try {
        return solve_points(problem, {field_value(at, search.integers)}, files, alone,
                            solution.warnings)
                   .front().*
               reading;
      } catch (const InputError&) { // refused at this value, as scanned points can be
        return std::optional<double>();
      }
    };
    return find_crossings(search, scan, evaluate);
  };
  const bool has_interval = std::ranges::any_of(
      solution.points, [](const SolvePoint& point) { return point.at_low_time.has_value(); });
  const std::vector<Crossing> low =
      has_interval ? crossings_of(&SolvePoint::at_low_time) : std::vector<Crossing>();
  const std::vector<Crossing> high =
      has_interval ? crossings_of(&SolvePoint::at_high_time) : std::vector<Crossing>();
  for (const Crossing& crossing : crossings_of(&SolvePoint::metric_value)) {
    SolveCrossing found{.point = {.value = field_value(crossing.at, search.integers),
                                  .metric_value = crossing.value},
                        .rising = crossing.rising};
    if (crossing.beyond) {
      found.beyond = SolvePoint{.value = field_value(crossing.beyond->at, search.integers),
                                .metric_value = crossing.beyond->value};
    }
    if (has_interval) {
      const bool rate = is_rate(problem.metric);
      found.range = range_of(crossing, rate ? low : high, rate ? high : low, search.integers);
    }
    solution.crossings.push_back(std::move(found));
  }
  return solution;
}

io::Json solution_tree(const SolveProblem& problem, const Solution& solution) {
  io::Array crossings;
  for (const SolveCrossing& crossing : solution.crossings) {
    io::Json entry = point_tree(crossing.point);
    entry.set("direction", crossing.rising ? "rising" : "falling");
    if (crossing.range) {
      entry.set("range",
                io::Object{{"low", crossing.range->first}, {"high", crossing.range->second}});
    }
    if (crossing.beyond) {
      entry.set("beyond", point_tree(*crossing.beyond));
    }
    crossings.push_back(std::move(entry));
  }
  io::Array points;
  for (const SolvePoint& point : solution.points) {
    io::Json entry = point_tree(point);
    if (!point.metric_value) {
      entry.set("error", reason_of(problem, point));
    }
    points.push_back(std::move(entry));
  }
  io::Json tree = io::Object{
      {"pointer", problem.pointer},
      {"target", io::Object{{"metric", problem.metric}, {"value", problem.target}}},
      {"crossings", std::move(crossings)},
      {"points", std::move(points)},
      {"warnings", io::Array(solution.warnings.begin(), solution.warnings.end())},
  };
  if (!problem.minimize.empty()) {
    io::Json best = solution.best ? point_tree(*solution.best) : io::Json();
    if (solution.best) {
      best.set(problem.minimize, io::or_null(solution.best->minimized));
    }
    tree.set("best", std::move(best));
  }
  return tree;
}

// Which runs have a number is a list here, because the summary itself only knows that a number is
// null.

const SummaryField& require_metric(std::string_view flag, std::string_view metric) {
  std::vector<std::string_view> known;
  for (const SummaryField& field : kSummaryFields) {
    if (field.is_number() && field.key == metric) {
      return field;
    }
    if (field.is_number()) {
      known.push_back(field.key);
    }
  }
  std::ranges::sort(known);
  throw UsageError(std::string(flag) + ": " + base::unknown_word("metric", metric, known));
}

Target parse_target(std::string_view text) {
  const std::string shown = base::shown_value(text, 80);
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw UsageError("--target " + shown + ": must be METRIC=VALUE, e.g. scaling_efficiency=0.9");
  }
  const char side = text[equals - 1];
  const bool says_side = side == '<' || side == '>';
  std::string metric(text.substr(0, equals - (says_side ? 1 : 0)));
  require_metric("--target", metric);
  const auto kind = metric == "samples_per_s" ? std::nullopt : base::kind_of_key(metric);
  const auto value = base::parse_quantity(
      text.substr(equals + 1), kind.value_or(base::QuantityKind::ratio), base::BareNumber::si);
  if (const auto* message = std::get_if<std::string>(&value)) {
    throw UsageError("--target " + shown + ": " + *message);
  }
  if (metric == "scaling_efficiency" && std::get<double>(value) > 1) {
    throw UsageError("--target " + shown + ": must be at most 1, which 100% is, too");
  }
  return {std::move(metric), std::get<double>(value),
          says_side ? std::optional(side == '>') : std::nullopt};
}

} // namespace stepsim::study
