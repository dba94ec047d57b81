#include "programs/step/step.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "base/random.hpp"
#include "buckets/planner_options.hpp"
#include "buckets/priority.hpp"
#include "buckets/schedules.hpp"
#include "buckets/sending.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::programs;
using stepsim::testing::within;

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
  CHECK(step.period_s == 99); // 30 waits: 119 + 10 - 30
  input.update_s = 2;         // at the root, between reduces and broadcasts
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
    CHECK(per_layer.period_s == within(barrier.period_s, 1e-12));
    CHECK(barrier.period_s == within(barrier.forward_s + barrier.finish_s + input.update_s, 1e-12));
    // The parts add up, and nothing is below the compute time.
    CHECK(per_layer.period_s ==
          within(per_layer.forward_s + per_layer.backward_s + input.update_s + per_layer.exposed_s,
                 1e-12));
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

TEST_CASE("without messages nothing is exposed and overlap does not matter") {
  StepInput input;
  input.forward_s = {0.1, 0.2};
  input.backward_s = {0.3, 0.4};
  input.gradient_bytes = {0, 0};
  input.update_s = 0.05;
  const StepTimes step = run_step(input);
  CHECK(step.exposed_s == 0);
  CHECK(step.period_s == within(0.1 + 0.2 + 0.3 + 0.4 + 0.05, 1e-12));
}

namespace {

// MER 14, G3, and how a schedule sends it.
StepInput g3(const std::vector<std::vector<std::uint32_t>>& groups, std::int64_t partition = 0) {
  const std::vector<double> bytes{4, 8, 12, 16};
  StepInput input;
  input.forward_s = {1, 2, 1, 1};
  input.backward_s = {2, 2, 2, 2};
  input.gradient_bytes = bytes;
  for (const std::vector<std::uint32_t>& layers : groups) {
    double left = 0;
    for (const std::uint32_t layer : layers) {
      left += bytes[layer];
    }
    while (left > 0) {
      const double part = partition > 0 ? std::min(left, static_cast<double>(partition)) : left;
      const std::uint32_t lowest = *std::min_element(layers.begin(), layers.end());
      input.messages.push_back({.layers = layers,
                                .bytes = part,
                                .ready_s = 2.0 * (4 - lowest),
                                .seconds = 0.5 + 0.25 * part,
                                .startup_s = 0.5});
      left -= part;
    }
  }
  return input;
}

StepInput by_priority(std::int64_t partition, std::int64_t credit) {
  StepInput input = g3({{0}, {1}, {2}, {3}}, partition);
  input.send = stepsim::buckets::send_by_priority;
  input.schedule_options.credit_bytes = {credit};
  return input;
}

StepInput dear(const std::vector<std::vector<std::uint32_t>>& groups,
               stepsim::buckets::Prefetch prefetch) {
  StepInput input = g3(groups);
  for (Message& message : input.messages) {
    message.broadcast_s = message.seconds / 2;
    message.seconds /= 2;
    message.startup_s = 0;
  }
  input.send = stepsim::buckets::send_dear;
  input.schedule_options.prefetch = prefetch;
  input.all_gathers = true;
  return input;
}

} // namespace

TEST_CASE("steps whose messages travel by other disciplines (MER G3)") {
  CHECK(run_step(g3({{3}, {2}, {1}, {0}})).period_s == 19);
  CHECK(run_step(by_priority(4, 8)).period_s == 15.5);
  CHECK(run_step(by_priority(6, 1)).period_s == 17);
  CHECK(run_step(by_priority(6, 12)).period_s == 16);
  using stepsim::buckets::Prefetch;
  CHECK(run_step(dear({{3}, {2}, {1}, {0}}, Prefetch::all)).period_s == 15.75);
  CHECK(run_step(dear({{3}, {2}, {1}, {0}}, Prefetch::one)).period_s == 16);
  CHECK(run_step(dear({{3, 2}, {1, 0}}, Prefetch::all)).period_s == 17.25);
  CHECK(run_step(dear({{3, 2, 1, 0}}, Prefetch::all)).period_s == 23.5);
  StepInput two = g3({{3}, {2}, {1}, {0}});
  two.send = stepsim::buckets::send_at_once;
  two.schedule_options.concurrency = 2;
  two.schedule_options.contention = 0.5;
  // Of 3.5, 2.5, 3.5 and 1.5 s alone: ready 2, 4, 6, 8. Layer 4 moves data from 2.5, layer 3 from
  // 4.5: 4 - 2 = 2 left of the first, 2 s * 1.5 each, so 7.5; layer 2 starts at 7.5.
  CHECK(run_step(two).messages[0].end_s == 2.5 + 2 + 2 * 1.5);
  CHECK(run_step(two).period_s < 19);
}

TEST_CASE("what a message delays the next forward by, and what of it is hidden") {
  // Partition 6, credit 1: forward waits for layer 1 from 8 to 9.5, runs to 10.5, layer 2 is there,
  // to 12.5; layer 3 as well, to 13.5; layer 4 comes at 16.
  const StepTimes step = run_step(by_priority(6, 1));
  CHECK(step.layer_done_s == std::vector<double>{9.5, 10.5, 12.5, 16});
  CHECK(step.exposed_s == 1.5 + 2.5);
  double exposed = 0;
  for (const MessageTimes& message : step.messages) {
    exposed += message.exposed_s;
  }
  CHECK(exposed == step.exposed_s);
  CHECK(step.launch_order.front() == 5); // 4.1, after 1.1, 2.1, 2.2, 3.1, 3.2
  CHECK(step.communication_s == 14);     // from 2 to 16 without a pause
}

TEST_CASE("dear updates a layer after its all-gather, reduce_broadcast all before the broadcasts") {
  using stepsim::buckets::Prefetch;
  StepInput input = dear({{3}, {2}, {1}, {0}}, Prefetch::all);
  input.update_s = 4; // 0.4, 0.8, 1.2, 1.6 by bytes
  // Layer 1 from 9.5 + 0.4 to 10.9, layer 2 from 11.7 to 13.7, 3 from 14.9 to 15.9, 4 to 18.5.
  CHECK(run_step(input).period_s == within(18.5, 1e-12));
  CHECK(run_step(input).exposed_s == within(1.5, 1e-9));
  double exposed = 0;
  for (const MessageTimes& message : run_step(input).messages) {
    exposed += message.exposed_s; // the forward waits from 8 to 9.5 alone
  }
  CHECK(exposed == within(1.5, 1e-9));
  // One ahead: the third all-gather starts when layer 2 is reached, with layer 1 and its update
  // done (10.9), the fourth at layer 3 (13.7), to 15.95; layer 4 then takes 1.6 + 1.
  input.schedule_options.prefetch = Prefetch::one;
  CHECK(run_step(input).messages[0].broadcast_start_s == within(13.7, 1e-12));
  CHECK(run_step(input).period_s == within(15.95 + 2.6, 1e-12));
  input.all_gathers = false;
  input.reduce_broadcast = true;
  input.send = stepsim::buckets::send_in_order;
  // Reduces end at 8.75, update to 12.75, broadcasts to 13.5, 14.75, 16.5, 18.75.
  CHECK(run_step(input).period_s == 18.75 + 1);
}
