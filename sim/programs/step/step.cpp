#include "programs/step/step.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

namespace stepsim::programs {

namespace {

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// Part of [start, end] that lies after the end of backward.
double after(double backward_end, double start, double end) {
  return std::max(0.0, end - std::max(start, backward_end));
}

bool root_updates(const StepInput& input) {
  return input.reduce_broadcast && !input.messages.empty();
}

// The times at which the next forward waits: disjoint, ascending.
struct Gaps {
  std::vector<double> begin, before; // before: seconds of waiting before it
  double total{};

  void add(double from, double to) {
    if (to > from) {
      begin.push_back(from);
      before.push_back(total);
      total += to - from;
    }
  }
  [[nodiscard]] double until(double time) const {
    const auto next = std::upper_bound(begin.begin(), begin.end(), time);
    if (next == begin.begin()) {
      return 0;
    }
    const auto gap = static_cast<std::size_t>(next - begin.begin()) - 1;
    const double length = (gap + 1 < before.size() ? before[gap + 1] : total) - before[gap];
    return before[gap] + std::min(length, time - begin[gap]);
  }
};

void add_messages(const StepInput& input, const buckets::SendTimes& sent, StepTimes& step) {
  const bool comes_back = input.all_gathers || root_updates(input);
  for (std::size_t g = 0; g < input.messages.size(); ++g) {
    MessageTimes& times = step.messages.emplace_back();
    times.start_s = sent.start_s[g];
    times.end_s = sent.end_s[g];
    times.broadcast_start_s = sent.back_start_s[g];
    times.broadcast_end_s = sent.back_end_s[g];
    const double done = comes_back ? times.broadcast_end_s : times.end_s;
    for (const std::uint32_t layer : input.messages[g].layers) {
      step.layer_done_s[layer] = std::max(step.layer_done_s[layer], done);
    }
    times.exposed_s = after(step.backward_s, times.start_s, times.end_s) +
                      (root_updates(input) ? times.broadcast_end_s - times.broadcast_start_s : 0.0);
  }
}

} // namespace

std::vector<double> layer_updates(const StepInput& input) {
  std::vector<double> updates(input.forward_s.size(), 0.0);
  const double bytes = sum_of(input.gradient_bytes);
  if (input.next_forward == NextForward::per_layer && !root_updates(input) && bytes > 0) {
    for (std::size_t l = 0; l < updates.size(); ++l) {
      updates[l] = input.update_s * (input.gradient_bytes[l] / bytes);
    }
  }
  return updates;
}

buckets::Sending sending_of(const StepInput& input) {
  buckets::Sending sending;
  sending.options = input.schedule_options;
  sending.comes_back = input.all_gathers || root_updates(input);
  sending.forward_s = layer_updates(input);
  for (std::size_t l = 0; l < input.forward_s.size(); ++l) {
    sending.forward_s[l] += input.forward_s[l];
  }
  sending.transfers.reserve(input.messages.size());
  for (const Message& message : input.messages) {
    buckets::Transfer& transfer = sending.transfers.emplace_back();
    transfer.bytes = message.bytes;
    transfer.startup_s = message.startup_s;
    transfer.data_s = message.seconds - message.startup_s;
    transfer.back_s = message.broadcast_s;
    if (!message.layers.empty()) {
      transfer.first_layer = *std::min_element(message.layers.begin(), message.layers.end());
    }
  }
  return sending;
}

double chained_s(std::vector<Sent> messages, double until_s, double pause_s) {
  std::erase_if(messages, [](const Sent& each) { return !(each.end_s > each.start_s); });
  std::ranges::sort(messages, {}, &Sent::end_s);
  const auto ending = [&](double time) {
    const auto found = std::ranges::lower_bound(messages, time, {}, &Sent::end_s);
    return found != messages.end() && found->end_s == time ? &*found : nullptr;
  };
  double seconds = 0;
  for (const Sent* last = ending(until_s); last != nullptr;) {
    seconds += last->end_s - last->start_s;
    const Sent* before = ending(last->start_s);
    last = before == nullptr && pause_s > 0 ? ending(last->start_s - pause_s) : before;
  }
  return seconds;
}

StepTimes run_step(const StepInput& input) {
  std::vector<double> ready;
  ready.reserve(input.messages.size());
  for (const Message& message : input.messages) {
    ready.push_back(message.ready_s);
  }
  const double backward = std::accumulate(input.backward_s.rbegin(), input.backward_s.rend(), 0.0);
  const std::vector<double> forward_start{backward};
  const std::vector<double> factor{1.0};
  buckets::SendTimes sent;
  input.send(sending_of(input),
             {.ready_s = ready,
              .backward_end_s = backward,
              .pause_s = root_updates(input) ? input.update_s : 0.0,
              .forward_start_s = forward_start,
              .forward_factor = factor},
             sent);
  return run_step(input, sent);
}

StepTimes run_step(const StepInput& input, const buckets::SendTimes& sent) {
  assert(input.forward_s.size() == input.backward_s.size() && "one pair of times per layer");
  const std::size_t layers = input.forward_s.size();
  StepTimes step;
  step.forward_s = sum_of(input.forward_s);
  // In backward order, so that it is bit-equal to the ready time of the last gradient.
  step.backward_s = std::accumulate(input.backward_s.rbegin(), input.backward_s.rend(), 0.0);
  step.update_s = input.update_s;
  step.layer_done_s.assign(layers, 0.0);
  step.messages.reserve(input.messages.size());
  add_messages(input, sent, step);
  step.launch_order = sent.order;
  step.communication_s = sent.busy_s;
  step.finish_s = std::max(sent.finish_s, step.backward_s);

  // The next forward. Under a barrier the whole update follows the last message.
  const bool barrier = input.next_forward == NextForward::barrier;
  const std::vector<double> updates = layer_updates(input);
  Gaps gaps;
  step.next_forward_s.reserve(layers);
  double t = step.backward_s;
  double waited_until = 0; // of the last wait
  if (barrier) {
    gaps.add(t, step.finish_s);
    waited_until = step.finish_s;
    t = step.finish_s + (root_updates(input) ? 0.0 : input.update_s);
  } else if (sum_of(input.gradient_bytes) == 0) {
    t += input.update_s; // nothing to share the update by
  }
  for (std::size_t l = 0; l < layers; ++l) {
    if (!barrier) {
      gaps.add(t, step.layer_done_s[l]);
      waited_until = step.layer_done_s[l] > t ? step.layer_done_s[l] : waited_until;
      t = std::max(t, step.layer_done_s[l]) + updates[l];
    }
    step.next_forward_s.push_back(t);
    t += input.forward_s[l];
  }
  if (input.send != buckets::send_in_order) {
    for (MessageTimes& times : step.messages) {
      times.exposed_s = gaps.until(times.end_s) - gaps.until(times.start_s) +
                        gaps.until(times.broadcast_end_s) - gaps.until(times.broadcast_start_s);
    }
  }
  step.exposed_s = exposed_communication_s(t, step.forward_s, step.backward_s, input.update_s);
  if (step.exposed_s > 0) {
    std::vector<Sent> all;
    for (const MessageTimes& times : step.messages) {
      all.push_back({times.start_s, times.end_s});
      all.push_back({times.broadcast_start_s, times.broadcast_end_s});
    }
    step.chained_s =
        chained_s(std::move(all), waited_until, root_updates(input) ? input.update_s : 0.0);
  }
  step.drained_s = step.finish_s + (root_updates(input) ? 0.0 : input.update_s);
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

} // namespace stepsim::programs
