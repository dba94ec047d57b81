// The example is part of the schema and is checked against it.
#include "scenario/keys/scenario_keys.hpp"

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

} // namespace stepsim::study::keys
