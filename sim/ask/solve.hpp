#pragma once
// The values of one scenario field at which a number of the summary reaches a target: all of them,
// because most curves are not monotone (compression can pay on slow and on fast networks, and not
// in between). The points are those of a sweep over the field; between them, crossings.hpp.
//
//   solve --for /cluster/network/bandwidth_Bps --between 1Gbps,400Gbps
//         --target scaling_efficiency=0.9
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/files.hpp"
#include "sweep/rows.hpp"
#include "json/json.hpp"

namespace stepsim::study {

struct SolveProblem {
  io::Json scenario;
  std::string pointer;                // of the field that is varied
  io::Json low, high;                 // numbers, low < high
  std::string metric;                 // numeric key of the flat summary
  double target{};                    // of the metric, in SI units
  std::optional<std::int64_t> points; // scanned at most, >= 2; empty: as scan_values has it
};

struct SolvePoint {
  io::Json value; // of the field; an integer where the field takes integers only
  std::optional<double> metric_value; // SI units; empty if the run failed or does not have it
  std::string error; // what failed; empty if nothing did, also where runs do not have the metric
};

struct SolveCrossing {
  SolvePoint point; // the metric meets the target here
  bool rising{};    // the metric, with the field's value
  // Where the metric jumps over the target (integers, changes of plan): the other side.
  std::optional<SolvePoint> beyond;
};

struct Solution {
  std::vector<SolveCrossing> crossings; // ascending
  std::vector<SolvePoint> points;       // scanned, ascending
  std::optional<SolvePoint> closest;    // of those scanned, to the target
  std::vector<std::string> warnings;
};

// Throws UsageError where the pointer names no field of a scenario, with the nearest.
void require_field(const io::Json& scenario, const std::string& pointer, Files& files);

// Throws UsageError for an unknown metric (with the nearest), a metric that runs like these do not
// have, or bounds that are no integers where the field takes integers only, InputError if none of a
// sample of points can be parsed, SimulationError if no point has the metric for another reason.
[[nodiscard]] Solution solve(const SolveProblem& problem, Files& files, const RowsOptions& options);
// The object that `solve --json` prints: pointer, target, crossings, points and warnings.
[[nodiscard]] io::Json solution_tree(const SolveProblem& problem, const Solution& solution);

} // namespace stepsim::study
