// Sorted lists, so that reading a step needs no pass over the whole recording.
#include "import/kineto/kineto_index.hpp"

#include <algorithm>
#include <tuple>

namespace stepsim::io {

namespace {

std::int32_t number(std::size_t i) { return static_cast<std::int32_t>(i); }

} // namespace

KinetoIndex::KinetoIndex(const KinetoRecording& recording, std::span<const KinetoStep> steps,
                         const Attribution& attribution, std::span<const CollectiveCall> calls)
    : attribution_(attribution), nodes_(steps.size()), collectives_(steps.size()) {
  for (std::size_t i = 0; i < attribution.tops.size(); ++i) {
    const TopOperator& top = attribution.tops[i];
    const std::int32_t step = top.kind == NodeKind::none ? -1 : step_at(steps, top.begin);
    if (step >= 0) {
      nodes_[static_cast<std::size_t>(step)].push_back(number(i));
    }
  }
  // Equal starts on different threads go by what was recorded first.
  const auto order = [&](std::int32_t i) {
    const KinetoEvent& event = recording.event(i);
    return std::tuple(event.begin, event.external_id, recording.name(event));
  };
  for (auto& nodes : nodes_) {
    std::ranges::sort(nodes, {},
                      [&](std::int32_t top) { return order(attribution.top(top).event); });
  }

  const auto start = [&](const Operator& op) {
    return std::tuple(recording.event(op.event).thread, recording.event(op.event).begin);
  };
  const auto position = [&](std::int32_t thread, Nanoseconds moment) {
    const auto at =
        std::ranges::lower_bound(attribution.operators, std::tuple(thread, moment), {}, start);
    return number(static_cast<std::size_t>(at - attribution.operators.begin()));
  };
  for (const KinetoStep& step : steps) {
    forward_.push_back({position(step.thread, step.begin), position(step.thread, step.end)});
  }

  // Operators with a number that are not in backward nodes are forward's.
  for (std::size_t i = 0; i < attribution.operators.size(); ++i) {
    const Operator& op = attribution.operators[i];
    const std::int64_t sequence = recording.event(op.event).sequence;
    if (sequence >= 0 && kind(op.top) == NodeKind::none) {
      numbered_.push_back({sequence, number(i)});
    }
  }
  std::ranges::sort(numbered_, {},
                    [](const Numbered& n) { return std::tuple(n.sequence, n.position); });
  for (const CollectiveCall& call : calls) {
    if (call.step >= 0) {
      collectives_[static_cast<std::size_t>(call.step)].push_back(call);
    }
  }
}

std::vector<std::int32_t> KinetoIndex::forward_operators(std::size_t step) const {
  std::vector<std::int32_t> positions;
  for (std::int32_t i = forward_[step].first; i < forward_[step].last; ++i) {
    if (kind(attribution_.operators[static_cast<std::size_t>(i)].top) == NodeKind::none) {
      positions.push_back(i);
    }
  }
  return positions;
}

std::span<const DeviceItem> KinetoIndex::items(std::size_t step) const {
  const auto range = std::ranges::equal_range(attribution_.items, static_cast<std::int32_t>(step),
                                              {}, &DeviceItem::step);
  return {range.begin(), range.end()};
}

// Operators are sorted by their outermost ones.
std::span<const Operator> KinetoIndex::inside(std::int32_t top) const {
  const auto range = std::ranges::equal_range(attribution_.operators, top, {}, &Operator::top);
  return {range.begin(), range.end()};
}

// Autograd numbers operators as they run; a backward node has the number of its operator. The same
// number may come again in another step or on another thread: the last one within the step's
// forward counts.
std::int32_t KinetoIndex::forward_of(std::size_t step, std::int64_t sequence) const {
  const Range& range = forward_[step];
  const auto after = std::ranges::lower_bound(
      numbered_, std::tuple(sequence, range.last), {},
      [](const Numbered& n) { return std::tuple(n.sequence, n.position); });
  if (after == numbered_.begin()) {
    return -1;
  }
  const Numbered& last = *(after - 1);
  if (last.sequence != sequence || last.position < range.first) {
    return -1;
  }
  return attribution_.operators[static_cast<std::size_t>(last.position)].top;
}

} // namespace stepsim::io
