#include "train/step.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace stepsim::train {

namespace {

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// Messages one after another on the channel; returns when the channel is free again.
double send_in_order(const StepInput& input, std::vector<MessageTimes>& times) {
  double free = 0;
  for (const Message& message : input.messages) {
    const double start = std::max(free, message.ready_s);
    free = start + message.seconds;
    times.push_back({.start_s = start, .end_s = free});
  }
  return free;
}

// reduce_broadcast: the root updates after the last reduce (and its own backward), then broadcasts
// in forward order, that is in reverse launch order.
double broadcast_back(const StepInput& input, double from, std::vector<MessageTimes>& times) {
  double free = from;
  for (std::size_t g = input.messages.size(); g-- > 0;) {
    times[g].broadcast_start_s = free;
    free += input.messages[g].broadcast_s;
    times[g].broadcast_end_s = free;
  }
  return free;
}

// Part of [start, end] that lies after the end of backward.
double after(double backward_end, double start, double end) {
  return std::max(0.0, end - std::max(start, backward_end));
}

} // namespace

StepTimes run_step(const StepInput& input) {
  assert(input.forward_s.size() == input.backward_s.size() && "one pair of times per layer");
  const std::size_t layers = input.forward_s.size();
  StepTimes step;
  step.forward_s = sum(input.forward_s);
  // In backward order, so that it is bit-equal to the ready time of the last gradient.
  step.backward_s = std::accumulate(input.backward_s.rbegin(), input.backward_s.rend(), 0.0);
  step.update_s = input.update_s;
  step.layer_done_s.assign(layers, 0.0);
  step.messages.reserve(input.messages.size());

  double channel_end = send_in_order(input, step.messages);
  const bool messages_exist = !input.messages.empty();
  const bool root_updates = input.reduce_broadcast && messages_exist;
  if (root_updates) {
    channel_end = broadcast_back(input, std::max(channel_end, step.backward_s) + input.update_s,
                                 step.messages);
  }
  step.finish_s = std::max(channel_end, step.backward_s);

  for (std::size_t g = 0; g < input.messages.size(); ++g) {
    MessageTimes& times = step.messages[g];
    const double done = root_updates ? times.broadcast_end_s : times.end_s;
    for (const std::uint32_t layer : input.messages[g].layers) {
      step.layer_done_s[layer] = std::max(step.layer_done_s[layer], done);
    }
    times.exposed_s = after(step.backward_s, times.start_s, times.end_s) +
                      (root_updates ? times.broadcast_end_s - times.broadcast_start_s : 0.0);
    step.communication_s += input.messages[g].seconds + input.messages[g].broadcast_s;
  }

  // The next forward. Under a barrier the whole update follows the last message.
  const bool barrier = input.next_forward == NextForward::barrier;
  const double bytes = sum(input.gradient_bytes);
  double t = step.backward_s;
  if (barrier) {
    t = step.finish_s + (root_updates ? 0.0 : input.update_s);
  } else if (bytes == 0) {
    t += input.update_s; // nothing to share the update by
  }
  for (std::size_t l = 0; l < layers; ++l) {
    if (!barrier) {
      t = std::max(t, step.layer_done_s[l]);
      if (!root_updates && bytes > 0) {
        t += input.update_s * (input.gradient_bytes[l] / bytes);
      }
    }
    step.next_forward_s.push_back(t);
    t += input.forward_s[l];
  }
  step.exposed_s = exposed_communication_s(t, step.forward_s, step.backward_s, input.update_s);
  step.drained_s = step.finish_s + (root_updates ? 0.0 : input.update_s);
  const double busy = step.forward_s + step.backward_s + step.exposed_s;
  const double with_input =
      input.input_pipelined ? std::max(input.input_s, busy) : input.input_s + busy;
  step.period_s = with_input + input.update_s;
  step.input_wait_s = with_input - busy;
  for (double& start : step.next_forward_s) {
    start += step.input_wait_s;
  }
  return step;
}

double exposed_communication_s(double end_s, double forward_s, double backward_s, double update_s) {
  constexpr double kRounding = 1e-12; // of the end, for sums of thousands of layers
  const double left = end_s - forward_s - backward_s - update_s;
  return left > kRounding * end_s ? left : 0.0;
}

double backward_start_s(const StepTimes& step, std::int64_t index) {
  return step.forward_s + static_cast<double>(index) * step.period_s;
}

double iteration_start_s(const StepTimes& step, std::int64_t index) {
  if (index == 0 || step.next_forward_s.empty()) {
    return static_cast<double>(index) * step.period_s;
  }
  return backward_start_s(step, index - 1) + step.next_forward_s.front();
}

double makespan_s(const StepTimes& step, std::int64_t iterations) {
  assert(iterations >= 1 && "a run has at least one iteration");
  return backward_start_s(step, iterations - 1) + step.drained_s;
}

} // namespace stepsim::train
