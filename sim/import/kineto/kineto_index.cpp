// Sorted lists, so that reading a step needs no pass over the whole recording.
#include "import/kineto/kineto_index.hpp"

#include <algorithm>
#include <tuple>

namespace stepsim::io {

namespace {

std::int32_t number(std::size_t i) { return static_cast<std::int32_t>(i); }

// Autograd's names: a node that accumulates a gradient is the last one of its parameter.
NodeKind kind_of(std::string_view name) {
  if (!name.starts_with(kBackwardPrefix)) {
    return NodeKind::none;
  }
  return name.find("AccumulateGrad") == std::string_view::npos ? NodeKind::backward
                                                               : NodeKind::gradient;
}

} // namespace

KinetoIndex::KinetoIndex(const KinetoRecording& recording, std::span<const KinetoStep> steps,
                         const Attribution& attribution)
    : attribution_(attribution), nodes_(steps.size()), collectives_(steps.size()) {
  const auto event = [&](std::int32_t i) -> const KinetoEvent& {
    return recording.events[static_cast<std::size_t>(i)];
  };
  for (std::size_t i = 0; i < attribution.tops.size(); ++i) {
    const TopOperator& top = attribution.tops[i];
    kinds_.push_back(kind_of(recording.name(event(top.event))));
    const std::int32_t step = kinds_.back() == NodeKind::none ? -1 : step_at(steps, top.begin);
    if (step >= 0) {
      nodes_[static_cast<std::size_t>(step)].push_back(number(i));
    }
  }
  // Equal starts on different threads go by what was recorded first.
  const auto order = [&](std::int32_t i) {
    return std::tuple(event(i).begin, event(i).external_id, recording.name(event(i)));
  };
  for (auto& nodes : nodes_) {
    std::ranges::sort(nodes, {}, [&](std::int32_t top) {
      return order(attribution.tops[static_cast<std::size_t>(top)].event);
    });
  }

  const auto start = [&](const Operator& op) {
    return std::tuple(event(op.event).thread, event(op.event).begin);
  };
  const auto position = [&](std::int32_t thread, Nanoseconds moment) {
    const auto at =
        std::ranges::lower_bound(attribution.operators, std::tuple(thread, moment), {}, start);
    return number(static_cast<std::size_t>(at - attribution.operators.begin()));
  };
  for (const KinetoStep& step : steps) {
    forward_.push_back({position(step.thread, step.begin), position(step.thread, step.end)});
  }

  // Operators with a number that are not in backward nodes are forward's; the collectives' calls
  // are operators too.
  for (std::size_t i = 0; i < attribution.operators.size(); ++i) {
    const Operator& op = attribution.operators[i];
    const KinetoEvent& e = event(op.event);
    if (e.sequence >= 0 && kind(op.top) == NodeKind::none) {
      numbered_.push_back({e.sequence, number(i)});
    }
    const bool collective =
        e.detail >= 0 && recording.name(e) == std::string_view("record_param_comms");
    const std::int32_t step = collective ? step_at(steps, e.begin) : -1;
    if (step >= 0) {
      collectives_[static_cast<std::size_t>(step)].push_back(number(i));
    }
  }
  std::ranges::sort(numbered_, {},
                    [](const Numbered& n) { return std::tuple(n.sequence, n.position); });
  for (auto& collectives : collectives_) {
    std::ranges::sort(collectives, {}, [&](std::int32_t at) {
      return order(attribution.operators[static_cast<std::size_t>(at)].event);
    });
  }

  for (const DeviceItem& item : attribution.items) {
    if (item.work == WorkClass::communication && event(item.event).external_id >= 0) {
      kernels_.push_back({event(item.event).external_id, item.duration()});
    }
  }
  std::ranges::sort(kernels_, {},
                    [](const KernelTime& k) { return std::tuple(k.external_id, k.time); });
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

// A collective may launch several kernels.
std::optional<Nanoseconds> KinetoIndex::kernel_time(std::int64_t external_id) const {
  const auto range = std::ranges::equal_range(kernels_, external_id, {}, &KernelTime::external_id);
  if (external_id < 0 || range.empty()) {
    return std::nullopt;
  }
  Nanoseconds sum = 0;
  for (const KernelTime& kernel : range) {
    sum += kernel.time;
  }
  return sum;
}

} // namespace stepsim::io
