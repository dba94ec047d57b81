// The example is part of the schema and is checked against it.
#include "scenario/keys/scenario_keys.hpp"

#include "buckets/planners.hpp"
#include "scenario/keys/problem_keys.hpp"
#include "scenario/keys/schedule_keys.hpp"

namespace stepsim::study::keys {

namespace {

constexpr std::array<std::string_view, 1> kExamples{R"({
  "schema_version": 1, "kind": "scenario", "name": "two-layers",
  "workload": {"layers": [
    {"name": "a", "forward_s": 0.001, "backward_s": 0.002, "gradient_bytes": 4000000},
    {"name": "b", "forward_s": 0.001, "backward_s": 0.002, "gradient_bytes": 1000000}]},
  "cluster": {"nodes": 16, "network": {"latency_s": 5e-05, "bandwidth_Bps": 1.25e9}},
  "training": {"iterations": 10},
  "communication": {"collective": "ring", "schedule": "mg_wfbp"}, "seed": 1})"};

} // namespace

io::FileKind scenario_file() { return {"scenario", &kScenario, kExamples}; }

// The words of all planners, in the order of their table: a planner that is added there is a word
// here.
std::vector<std::string_view> schedules() {
  std::vector<std::string_view> words;
  for (const buckets::Planner& planner : buckets::planners()) {
    words.push_back(planner.name);
  }
  return words;
}

// A problem file has no model behind it: planners that need forward times or measured buckets are
// no words of it.

namespace {

constexpr std::array<std::string_view, 1> kProblemExamples{
    R"({"schema_version": 1, "kind": "problem", "ready_s": [0.001, 0.002, 0.004], "bytes": [4000000, 1000, 2000000], "cost": {"startup_s": 0.0009, "per_byte_s": 7.4e-10}, "planners": {"ddp": {"bucket_bytes": 1000000}}})"};

} // namespace

std::vector<std::string_view> problem_schedules() {
  std::vector<std::string_view> words;
  for (const buckets::Planner& planner : buckets::planners()) {
    if (planner.fits_problem_files()) {
      words.push_back(planner.name);
    }
  }
  return words;
}

io::FileKind problem_file() { return {"problem", &kProblem, kProblemExamples}; }

} // namespace stepsim::study::keys
