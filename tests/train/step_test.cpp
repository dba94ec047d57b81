#include "train/step.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "base/random.hpp"

using namespace stepsim::train;
using doctest::Approx;

namespace {

// Layers in forward order; one message per layer, last layer first.
StepInput layer_by_layer(std::vector<double> forward, std::vector<double> backward,
                         const std::vector<double>& seconds) {
  StepInput input;
  input.forward_s = std::move(forward);
  input.backward_s = std::move(backward);
  input.gradient_bytes.assign(input.forward_s.size(), 1);
  double ready = 0;
  for (std::size_t l = input.forward_s.size(); l-- > 0;) {
    ready += input.backward_s[l];
    input.messages.push_back({.layers = {static_cast<std::uint32_t>(l)},
                              .bytes = 1,
                              .ready_s = ready,
                              .seconds = seconds[l]});
  }
  return input;
}

void wait_for_backward(StepInput& input) {
  for (Message& message : input.messages) {
    message.ready_s = std::accumulate(input.backward_s.begin(), input.backward_s.end(), 0.0);
  }
}

} // namespace

TEST_CASE("overlapped all-reduce hides what fits behind the rest of backward") {
  // forward 30, backward 20 each, all-reduce 5, 15, 30 for layers 1, 2, 3:
  // done: 20 + 30 = 50, then 65, then 70; iteration = 30 + 70.
  StepInput input = layer_by_layer({10, 10, 10}, {20, 20, 20}, {5, 15, 30});
  CHECK(run_step(input).period_s == 30 + 70);
  // Without overlap: 30 + 60 + (5 + 15 + 30).
  wait_for_backward(input);
  CHECK(run_step(input).period_s == 30 + 60 + 50);
}

TEST_CASE(
    "reduce and broadcast: broadcasts run in forward order and the next forward follows them") {
  StepInput input = layer_by_layer({10, 10, 10}, {20, 20, 20}, {3, 8, 15});
  input.reduce_broadcast = true;
  for (std::size_t g = 0; g < 3; ++g) {
    input.messages[g].broadcast_s = input.messages[g].seconds;
  }
  StepTimes step = run_step(input);
  // Backward starts at 30. Reduces end at 65, 78, 93; broadcasts of layers 1, 2, 3 at 96, 104, 119.
  CHECK(step.messages[2].broadcast_end_s + 30 == 96);
  CHECK(step.messages[1].broadcast_end_s + 30 == 104);
  CHECK(step.messages[0].broadcast_end_s + 30 == 119);
  CHECK(iteration_start_s(step, 1) == 96); // second forward
  CHECK(step.period_s == 99);              // 30 waits: 119 + 10 - 30
  input.update_s = 2;                      // at the root, between reduces and broadcasts
  CHECK(run_step(input).period_s == 99 + 2);
  input.update_s = 0;
  wait_for_backward(input);
  input.next_forward = NextForward::barrier;
  CHECK(run_step(input).period_s == 30 + 60 + 2 * (3 + 8 + 15));
  input.update_s = 2;
  CHECK(run_step(input).period_s == 30 + 60 + 2 * (3 + 8 + 15) + 2);
}

TEST_CASE("a FIFO channel whose last message holds layer 1 makes per_layer and barrier equal") {
  stepsim::base::RandomStream random({.seed = 7});
  for (int trial = 0; trial < 200; ++trial) {
    CAPTURE(trial);
    const auto layers = static_cast<std::size_t>(random.integer(1, 9));
    std::vector<double> forward(layers), backward(layers), seconds(layers);
    for (std::size_t l = 0; l < layers; ++l) {
      forward[l] = random.uniform();
      backward[l] = random.uniform();
      seconds[l] = random.uniform();
    }
    StepInput input = layer_by_layer(forward, backward, seconds);
    input.update_s = random.uniform();
    const StepTimes per_layer = run_step(input);
    input.next_forward = NextForward::barrier;
    const StepTimes barrier = run_step(input);
    CHECK(per_layer.period_s == Approx(barrier.period_s).epsilon(1e-12));
    CHECK(barrier.period_s ==
          Approx(barrier.forward_s + barrier.finish_s + input.update_s).epsilon(1e-12));
    // The parts add up, and nothing is below the compute time.
    CHECK(per_layer.period_s ==
          Approx(per_layer.forward_s + per_layer.backward_s + input.update_s + per_layer.exposed_s)
              .epsilon(1e-12));
    CHECK(per_layer.exposed_s >= 0);
    CHECK(per_layer.exposed_s <= per_layer.communication_s + 1e-12);
  }
}

TEST_CASE("a layer without a message does not wait for the channel") {
  // Only layer 2 of 2 has gradients: forward of layer 1 starts right after backward.
  StepInput input;
  input.forward_s = {4, 1};
  input.backward_s = {1, 1};
  input.gradient_bytes = {0, 8};
  input.messages = {{.layers = {1}, .bytes = 8, .ready_s = 1, .seconds = 6}};
  const StepTimes step = run_step(input);
  CHECK(step.finish_s == 7);
  CHECK(step.next_forward_s[0] == 2);
  CHECK(step.next_forward_s[1] == 7);
  CHECK(step.period_s == 8);
  CHECK(step.exposed_s == 8 - (1 + 1) - (4 + 1));
}

TEST_CASE("input either hides behind the step or adds to it") {
  StepInput input = layer_by_layer({1}, {2}, {4});
  input.update_s = 0.5;
  input.input_s = 9;
  CHECK(run_step(input).period_s == std::max(9.0, 1.0 + 2 + 4) + 0.5);
  input.input_pipelined = false;
  CHECK(run_step(input).period_s == 9 + (1 + 2 + 4) + 0.5);
}

TEST_CASE("a run of K iterations lasts t_f + (K-1) period + finish + update") {
  StepInput input = layer_by_layer({1, 2}, {3, 4}, {5, 6});
  input.update_s = 0.25;
  const StepTimes step = run_step(input);
  for (const int iterations : {1, 2, 10}) {
    CHECK(makespan_s(step, iterations) ==
          Approx(3 + (iterations - 1) * step.period_s + step.finish_s + 0.25).epsilon(1e-14));
  }
  CHECK(iteration_start_s(step, 0) == 0);
  CHECK(iteration_start_s(step, 3) - iteration_start_s(step, 2) == Approx(step.period_s));
  // The first forward follows no update; later ones follow that of their own layer.
  CHECK(iteration_start_s(step, 1) == Approx(step.period_s - 0.25 / 2));
}

TEST_CASE("without messages nothing is exposed and overlap does not matter") {
  StepInput input;
  input.forward_s = {0.1, 0.2};
  input.backward_s = {0.3, 0.4};
  input.gradient_bytes = {0, 0};
  input.update_s = 0.05;
  const StepTimes step = run_step(input);
  CHECK(step.exposed_s == 0);
  CHECK(step.period_s == Approx(0.1 + 0.2 + 0.3 + 0.4 + 0.05));
}
