// The machine of a trace, the parts of its recorded step, and what is carried from it.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "scenario/files.hpp"
#include "study/trace_study.hpp"
#include "testing/paths.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using stepsim::testing::within;

namespace {

std::string node_type_of(const std::string& device) {
  study::Files files(STEPSIM_SOURCE_DIR);
  const std::vector<std::string> types = study::node_types_of_gpu(device, files);
  return types.empty() ? "" : types.front();
}

layers::MeasuredStep step_of(double compute, double exchange, double others, double input,
                             double host, double idle) {
  layers::MeasuredStep step;
  step.used = true;
  step.step = Seconds{compute + exchange + others + input + host + idle};
  step.step_compute = Seconds{compute};
  step.step_exchange = Seconds{exchange};
  step.step_other_collectives = Seconds{others};
  step.step_input = Seconds{input};
  step.step_host = Seconds{host};
  step.step_idle = Seconds{idle};
  return step;
}

// Layers of 3 s and 5 s, an update of 0.5 s with 0.25 s of the framework, and two steps of 20 s on
// average.
layers::Trace two_layers() {
  layers::Trace trace;
  trace.time_basis = "kernel";
  trace.layers = {{"a", Seconds{1}, Seconds{2}, Bytes{8}, {}, ""},
                  {"b", Seconds{2}, Seconds{3}, Bytes{8}, {}, ""}};
  trace.update = Seconds{0.5};
  trace.framework = Seconds{0.25};
  trace.steps = {step_of(9, 2, 1, 0.5, 4, 1.5), step_of(9, 4, 1, 0.5, 6, 1.5)};
  trace.steps.push_back(step_of(1, 1, 1, 1, 1, 1));
  trace.steps.back().used = false; // a warm-up
  return trace;
}

} // namespace

TEST_CASE("the node type of a trace is the one with the GPU that the profiler named") {
  CHECK(node_type_of("NVIDIA A100-SXM4-80GB") == "dgx_a100");
  CHECK(node_type_of("NVIDIA A100-PG509-200") == "dgx_a100");
  CHECK(node_type_of("NVIDIA H100 80GB HBM3") == "dgx_h100");
  CHECK(node_type_of("NVIDIA H200") == "hgx_h200");
  CHECK(node_type_of("Tesla V100-SXM2-32GB") == "dgx1v");
  CHECK(node_type_of("AMD Instinct MI300X") == "mi300x");
  CHECK(node_type_of("NVIDIA GH200 480GB") == "gh200x4");
  CHECK(node_type_of("NVIDIA B200") == "dgx_b200");
  CHECK(node_type_of("NVIDIA B300 SXM6 AC") == "dgx_b300");
  CHECK(node_type_of("NVIDIA L40S") == "l40sx8");
  CHECK(node_type_of("NVIDIA L40").empty());
  CHECK(node_type_of("NVIDIA GeForce RTX 4090") == "rtx4090x4");
  CHECK(node_type_of("NVIDIA A100-PCIE-40GB").empty()); // no NVLink to all others
  CHECK(node_type_of("NVIDIA GeForce RTX 2080 Ti").empty());
  CHECK(node_type_of("").empty());
}

TEST_CASE("ranks of a trace fill machines") {
  study::Files files(STEPSIM_SOURCE_DIR);
  layers::Trace trace;
  trace.device = "NVIDIA A100-SXM4-80GB";
  const auto machines = [&](std::int64_t ranks) {
    trace.ranks = ranks;
    const auto machine = study::machine_of(trace, "", files);
    return machine ? std::pair(machine->nodes, machine->gpus_per_node)
                   : std::pair<std::int64_t, std::int64_t>();
  };
  CHECK(machines(1) == std::pair<std::int64_t, std::int64_t>(1, 1));
  CHECK(machines(6) == std::pair<std::int64_t, std::int64_t>(1, 6));
  CHECK(machines(16) == std::pair<std::int64_t, std::int64_t>(2, 8));
  CHECK(machines(12) == std::pair<std::int64_t, std::int64_t>());
  trace.ranks = 4;
  CHECK(study::machine_of(trace, "polaris", files)->gpus_per_node == 4);
}

TEST_CASE("the parts of a recorded step add up to it, and what is carried fills it") {
  const layers::Trace trace = two_layers();
  const std::vector<study::JobStep> steps = study::timed_steps(trace);
  REQUIRE(steps.size() == 2);
  const study::DeviceTimes times = study::device_times(steps);
  CHECK(times.step_s == within(20, 1e-12));
  CHECK(times.exchange_s == within(3, 1e-12));
  CHECK(times.host_s == within(5, 1e-12));
  // Kernels over ideal links take 9.25 s, 0.5 s of it an exchange that is not hidden.
  const study::TraceGap gap = study::gap_of(trace, times, 9.25, 0.5);
  const double sum =
      std::accumulate(gap.parts.begin(), gap.parts.end(), gap.ideal_s,
                      [](double all, const study::GapPart& part) { return all + part.seconds; });
  CHECK(sum == within(20, 1e-12));
  const auto part = [&](std::string_view key) {
    return std::ranges::find(gap.parts, key, &study::GapPart::key)->seconds;
  };
  CHECK(part("host") == within(5, 1e-12));
  CHECK(part("input") == within(0.5, 1e-12));
  CHECK(part("exchange") == within(2.5, 1e-12));
  CHECK(part("other_collectives") == within(1, 1e-12));
  CHECK(gap.parts.back().seconds ==
        within(1.5 + 0.25, 1e-12)); // idle, and kernels outside of the layers
  // 8 s of layers and 0.75 s of updates last as long as computing, other collectives, host and
  // idle.
  const study::Carried carried = study::carried_of(trace, times);
  CHECK(carried.stretch == within((9 + 1 + 5 + 1.5) / 8.75, 1e-12));
  CHECK(carried.input_s == within(0.5, 1e-12));
  const layers::Trace stretched = study::with_carried(trace, carried);
  CHECK(stretched.layers[1].backward->value == within(3 * carried.stretch, 1e-12));
  CHECK(stretched.framework.value == within(0.25 * carried.stretch, 1e-12));
  CHECK(stretched.time_basis == "wall");
  CHECK(study::with_kernel_times(stretched).layers[0].forward->value == within(1, 1e-12));
  CHECK(study::with_kernel_times(stretched).time_basis == "kernel");
}

TEST_CASE("micro-steps of a trace count, and waiting for ranks is told where all were read") {
  layers::Trace trace = two_layers();
  trace.accumulation = 2;
  const study::DeviceTimes times = study::device_times(study::timed_steps(trace));
  CHECK(study::carried_of(trace, times).stretch == within(16.5 / 16.75, 1e-12));
  layers::MeasuredBucket bucket;
  bucket.transfer.median = Seconds{1};
  bucket.transfer.wait = {Seconds{0}, Seconds{6}}; // 3 s on average, three times the transfer
  trace.buckets = {bucket};
  const study::TraceGap gap = study::gap_of(trace, times, 9.25, 0.5);
  CHECK(gap.parts[2].key == "waiting");
  CHECK(gap.parts[2].seconds == within(0.75 * 3, 1e-12));
  CHECK(gap.parts[3].seconds == within(0.25 * 3 - 0.5, 1e-12));
}

TEST_CASE("the steps of several ranks are steps of one job, and input is that of a micro-step") {
  layers::Trace trace = two_layers();
  for (const layers::MeasuredStep& step : two_layers().steps) {
    trace.steps.push_back(step);
    trace.steps.back().rank = 1;
    trace.steps.back().step = step.step + Seconds{2};
  }
  const std::vector<study::JobStep> steps = study::timed_steps(trace);
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].size() == 2);
  // 18 and 20 s of the first step, 22 and 24 s of the second one.
  CHECK(study::device_times(steps).step_s == within(21, 1e-12));
  CHECK(study::device_times(std::span(steps).first(1)).step_s == within(19, 1e-12));
  trace.steps[3].used = false; // the second rank's first step was a warm-up
  CHECK(study::timed_steps(trace).size() == 1);
  trace.accumulation = 4;
  CHECK(study::carried_of(trace, study::device_times(steps)).input_s == within(0.5 / 4, 1e-12));
}
