#pragma once
// Finds all values of one scenario field at which a metric of the summary reaches a target. There
// may be several, because most curves are not monotone: compression can pay on slow and on fast
// networks, and not in between. The field is swept first; crossings.hpp then searches between the
// points.
//
//   solve --for /cluster/nodes --between 16,512 --target scaling_efficiency=0.9
//
// With `minimize` the field takes integers, all of them are tried, and of those that meet the
// target the one with the least of another metric is found: the cheapest number of machines in
// time.

#include "run/summary_fields.hpp"
#include "study/sweep/rows.hpp"

namespace stepsim::study {

struct SolveProblem {
  io::Json scenario;
  std::string pointer;                // JSON pointer of the field that is varied
  io::Json low, high;                 // numbers, low < high
  std::string metric;                 // numeric key of the flat summary
  double target{};                    // value of the metric in SI units
  std::optional<std::int64_t> points; // most points of the sweep, >= 2; see scan_values()
  // Of all values that meet the target, find the one with the least of this metric; "" = do not.
  std::string minimize{};
  std::optional<bool> at_least{}; // which side of the target meets it; by the metric if empty
};

struct SolvePoint {
  io::Json value; // value of the field; an integer if the field takes integers only
  std::optional<double> metric_value; // SI units; empty if the run failed or lacks the metric
  // The metric with the iteration time at the low and at the high end of its interval; empty
  // without an interval, and for metrics that are neither the time nor a rate of iterations.
  std::optional<double> at_low_time{}, at_high_time{};
  std::optional<double> minimized{}; // the metric `minimize`
  bool exceeds_memory{};             // of a GPU: never the best
  std::string error{}; // error of a failed run; empty if the run only lacks the metric
};

struct SolveCrossing {
  // Here the metric equals the target or, at a jump over it, is on the better side of the target.
  SolvePoint point;
  bool rising{}; // the metric grows as the field grows
  // The other side of the jump, if the metric jumps over the target (integers, changes of plan).
  std::optional<SolvePoint> beyond = {};
  // Where the metric crosses the target at the ends of the interval of the iteration time: the
  // smaller value and the larger one. Null where that is beyond the bounds. Empty without an
  // interval.
  std::optional<std::pair<io::Json, io::Json>> range = {};
};

struct Solution {
  std::vector<SolveCrossing> crossings; // ascending
  std::vector<SolvePoint> points;       // points of the sweep, ascending
  std::optional<SolvePoint> closest;    // the point of the sweep that is closest to the target
  std::optional<SolvePoint> best;       // with `minimize`: of the points that meet the target
  bool met_everywhere = false;          // every point meets a target whose side was given
  std::vector<std::string> warnings;
};

// Throws UsageError, with the nearest pointer, if `pointer` names no field of a scenario.
void require_field(const io::Json& scenario, const std::string& pointer, Files& files);

// Solves the problem. Throws
//   UsageError       the metric is unknown (with the nearest known one) or is not computed for such
//                    a scenario, a bound is no integer although the field takes integers only, or
//                    `minimize` is asked of a field of other numbers or of more than 100,000
//   InputError       none of a sample of points can be parsed
//   SimulationError  no point has the metric, for another reason
[[nodiscard]] Solution solve(const SolveProblem& problem, Files& files,
                             const SweepOptions& options);
// The object that `solve --json` prints: pointer, target, crossings, points and warnings.
[[nodiscard]] io::Json solution_tree(const SolveProblem& problem, const Solution& solution);

// The metric of `stepsim solve`, a number of the summary, and the value that it must reach. Not
// every run has every metric: the errors tell which runs have it, and how to change a scenario so
// that it has the metric.

// Throws UsageError that names the flag, with the nearest key, unless `metric` is a numeric key of
// the flat summary. `solve` calls it before it runs anything. Returns the row of the key.
const SummaryField& require_metric(std::string_view flag, std::string_view metric);

// A value that a metric must reach, and whether that means at least the value or at most; empty if
// the text does not say it.
struct Target {
  std::string metric;
  double value{};
  std::optional<bool> at_least;
};

// Parses "METRIC=VALUE" into the metric and its value in SI units. "METRIC<=VALUE" and
// "METRIC>=VALUE" also say which side of the value meets the target. VALUE may have a unit that
// suits the metric, as in "makespan_s=50ms"; a plain number is in SI units. Throws UsageError
// if the text is not of this form, if VALUE has a unit that does not suit the metric, and as
// require_metric() does.
[[nodiscard]] Target parse_target(std::string_view text);

} // namespace stepsim::study
