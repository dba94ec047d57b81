#include "study/measured_steps_keys.hpp"

namespace stepsim::study::keys {

namespace {

constexpr std::array<std::string_view, 1> kMeasuredStepsExamples{R"({
  "schema_version": 1, "kind": "measured_steps", "name": "two-layers", "source": "our own runs",
  "rows": [
    {"schedule": "single", "step_s": 0.014, "scenario": {
      "workload": {"layers": [
        {"name": "a", "forward_s": 0.001, "backward_s": 0.002, "gradient_bytes": 4000000},
        {"name": "b", "forward_s": 0.001, "backward_s": 0.002, "gradient_bytes": 1000000}]},
      "cluster": {"nodes": 16, "network": {"latency_s": 5e-05, "bandwidth_Bps": 1.25e9}}}}]})"};

} // namespace

io::FileKind measured_steps_file() {
  return {"measured_steps", &kMeasuredSteps, kMeasuredStepsExamples};
}

} // namespace stepsim::study::keys
