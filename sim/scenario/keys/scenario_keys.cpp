// The example is part of the schema and is checked against it.
#include "scenario/keys/scenario_keys.hpp"

#include "scenario/keys/problem_keys.hpp"

namespace stepsim::study::keys {

namespace {

constexpr std::array<std::string_view, 1> kExamples{R"({
  "schema_version": 1, "kind": "scenario", "name": "two-layers",
  "workload": {"layers": [
    {"name": "a", "forward_s": 0.001, "backward_s": 0.002, "gradient_bytes": 4000000},
    {"name": "b", "forward_s": 0.001, "backward_s": 0.002, "gradient_bytes": 1000000}]},
  "cluster": {"nodes": 16, "network": "10g-tcp"},
  "training": {"iterations": 10},
  "communication": {"collective": "ring", "schedule": "mg_wfbp"}, "seed": 1})"};

constexpr std::array<std::string_view, 1> kProblemExamples{
    R"({"schema_version": 1, "kind": "problem", "ready_s": [0.001, 0.002, 0.004], "bytes": [4000000, 1000, 2000000], "cost": {"startup_s": 0.0009, "per_byte_s": 7.4e-10}, "planners": {"horovod": {"fusion_bytes": 1000000}}})"};

using collectives::AlgorithmId;

// auto is no algorithm and is added where it is a word.
template <class Take> std::vector<std::string_view> names(Take take) {
  return base::collected_if<std::string_view>(
      collectives::valid_algorithms(collectives::Op::allreduce),
      [&](AlgorithmId each) { return each != AlgorithmId::automatic && take(each); },
      [](AlgorithmId each) { return collectives::name(each); });
}

} // namespace

io::FileKind scenario_file() { return {"scenario", &kScenario, kExamples}; }

// The words of all planners, in the order of their table: a planner that is added there is a word
// here.
std::vector<std::string_view> schedules() {
  return base::collected<std::string_view>(buckets::planners(), &buckets::Planner::name);
}

// A problem file has no model behind it: planners that need forward times or measured buckets are
// no words of it.

std::vector<std::string_view> problem_schedules() {
  return base::names_where(buckets::planners(), &buckets::Planner::fits_problem_files);
}

io::FileKind problem_file() { return {"problem", &kProblem, kProblemExamples}; }

// The words of a key follow from the table of algorithms: an algorithm that is added there is a
// word here.

std::vector<std::string_view> candidates() {
  return names([](AlgorithmId) { return true; });
}

// `auto`, `library` and `calibrated` stand last, behind the algorithms that they choose from or
// replace.
std::vector<std::string_view> collectives() {
  std::vector<std::string_view> words = candidates();
  words.push_back(collectives::name(AlgorithmId::automatic));
  words.push_back(kLibrary);
  words.push_back(kCalibrated);
  return words;
}

// A two-level collective reduces to one rank of a node and broadcasts from it.
std::vector<std::string_view> algorithms_in_node() {
  return names([](AlgorithmId algorithm) {
    const bool is_flat =
        !collectives::is_two_level(algorithm) &&
        collectives::find_algorithm(collectives::Op::reduce, algorithm) != nullptr &&
        collectives::find_algorithm(collectives::Op::broadcast, algorithm) != nullptr;
    return is_flat || algorithm == collectives::kNvls; // of collnet
  });
}

// The level between nodes is itself a flat all-reduce, so that algorithms with two levels, and
// those that are taken by name only, are left out.
std::vector<std::string_view> algorithms_between_nodes() {
  return names([](AlgorithmId algorithm) {
    return collectives::find_algorithm(collectives::Op::allreduce, algorithm)->candidate ==
           collectives::Candidate::always;
  });
}

} // namespace stepsim::study::keys
