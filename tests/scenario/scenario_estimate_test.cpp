// A workload whose times are estimated for a named GPU (INP 3).
#include "document/json_text.hpp"
#include "scenario/scenario_text.hpp"
#include "scenario/scenario_tree.hpp"
#include "testing/tolerance.hpp"

#include <doctest/doctest.h>

using namespace stepsim;
using namespace stepsim::study;
using namespace stepsim::study::testing;
using stepsim::testing::within;

namespace {

std::string estimate_text(std::string_view workload) {
  return R"({"workload": {)" + std::string(workload) + R"(}, "cluster": {"nodes": 4,
      "network": {"latency_s": 1e-5, "bandwidth_Bps": 1.25e10}}})";
}

constexpr std::string_view kLlama =
    R"("model": "llama3_8b", "gpu": "h100", "batch_size": 2, "sequence_length": 2048)";

std::string with(std::string_view more) {
  return estimate_text(std::string(kLlama) + std::string(more));
}

} // namespace

TEST_CASE("a gpu gives times, an update and an interval") {
  const Scenario parsed = scenario(with(R"(, "dtype": "bf16")"));
  CHECK(parsed.workload.provenance == layers::Provenance::estimated);
  REQUIRE(parsed.workload.interval);
  CHECK(parsed.workload.interval->low == 0.8);
  CHECK(parsed.workload.interval->high == 1.25);
  CHECK(parsed.training.update.value == within(30 * 8'030'261'248.0 / (0.8 * 3.35e12), 1e-12));
}

TEST_CASE("the keys of an estimate are read again from the resolved scenario") {
  for (const std::string_view more :
       {"", R"(, "dtype": "fp8", "recompute": "full", "accept_estimate": true)",
        R"(, "measured_step": {"step_s": 0.5, "batch_size": 4, "sequence_length": 1024})"}) {
    const Scenario first = scenario(with(more));
    const io::Json tree = scenario_tree(first);
    CHECK(scenario_tree(parse_scenario(tree, shipped_files())) == tree);
    CHECK(io::resolve(tree, "/workload/layer_overhead_s") == nullptr);
    CHECK(io::resolve(tree, "/workload/backward_factor") == nullptr);
    CHECK(*io::resolve(tree, "/workload/gpu") == io::Json("h100"));
  }
}

TEST_CASE("the length of the table and the usual format are the defaults") {
  const io::Json tree = scenario_tree(
      scenario(estimate_text(R"("model": "llama3_8b", "gpu": "v100", "batch_size": 2)")));
  CHECK(*io::resolve(tree, "/workload/sequence_length") == io::Json(4096));
  CHECK(*io::resolve(tree, "/workload/dtype") == io::Json("fp16"));
  CHECK(*io::resolve(tree, "/workload/recompute") == io::Json("none"));
}

TEST_CASE("what an estimate refuses") {
  CHECK(problem_of(with(R"(, "dtype": "fp32")")).find("/workload/dtype: ") != std::string::npos);
  CHECK(problem_of(estimate_text(
            R"("model": "llama3_8b", "gpu": "v100", "batch_size": 2, "dtype": "bf16")")) ==
        "test.json: /workload/dtype: v100 has no bf16; its formats are fp16");
  CHECK(problem_of(estimate_text(
            R"("model": "llama3_8b", "gpu": "a100-80", "batch_size": 2, "dtype": "fp8")")) ==
        "test.json: /workload/dtype: a100-80 has no fp8; its formats are bf16 and fp16");
  CHECK(problem_of(with(R"(, "device": {"flops_Ps": 1e13})")) ==
        "test.json: /workload: give exactly one of device, measured and gpu");
  CHECK(problem_of(estimate_text(R"("model": "llama3_8b", "gpu": "h10", "batch_size": 2)"))
            .find("did you mean \"h100\"") != std::string::npos);
  const std::string conv = R"("model": "resnet50", "gpu": "a100-80", "batch_size": 64)";
  CHECK(problem_of(estimate_text(conv)) ==
        "test.json: /workload/gpu: resnet50 has no attention, and estimates of such networks were "
        "not compared with measured steps; import a trace, give measured_step, or accept "
        "the estimate (accept_estimate, --accept-estimate)");
  const Scenario accepted = scenario(estimate_text(conv + R"(, "accept_estimate": true)"));
  CHECK(accepted.workload.interval->low == 0.6);
  CHECK_FALSE(accepted.workload.interval->validated);
  CHECK(problem_of(with(R"(, "measured_step": {"step_s": 1, "sequence_length": 10000})")) ==
        "test.json: /workload/measured_step/sequence_length: llama3_8b has 8192 positions, got "
        "10000");
  const std::string device =
      R"("model": "resnet50", "device": {"flops_Ps": 1e13}, "batch_size": 64, )";
  for (const std::string key :
       {R"("dtype": "bf16")", R"("recompute": "none")", R"("measured_step": {"step_s": 1})"}) {
    CHECK(problem_of(estimate_text(device + key))
              .find("has no meaning for a workload without a gpu") != std::string::npos);
  }
}

TEST_CASE("a measured step of the same run makes the computing time exact") {
  const Scenario parsed = scenario(with(R"(, "measured_step": {"step_s": 0.75})"));
  CHECK(parsed.workload.forward().value + parsed.workload.backward().value +
            parsed.workload.update.value ==
        within(0.75, 1e-12));
  CHECK(parsed.workload.interval->low == parsed.workload.interval->high);
}
