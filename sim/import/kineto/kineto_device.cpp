#include "import/kineto/kineto_device.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace stepsim::io {

namespace {

constexpr Nanoseconds kNone = std::numeric_limits<Nanoseconds>::max();

bool exchanges(const KinetoRecording& recording, const Attribution& attribution,
               const CollectiveCall& call) {
  return carries_bucket(recording, attribution, call) || call.op == "allgather" ||
         call.op == "reduce_scatter";
}

// A kernel whose call is unknown counts as an exchange.
DeviceUse use_of(const DeviceItem& item, std::span<const CollectiveCall* const> others) {
  if (item.work != WorkClass::communication) {
    return item.work == WorkClass::input ? DeviceUse::input : DeviceUse::compute;
  }
  const bool other = std::ranges::any_of(others, [&](const CollectiveCall* call) {
    return call->kernel_begin <= item.begin && item.end <= call->kernel_end;
  });
  return other ? DeviceUse::other_collectives : DeviceUse::exchange;
}

} // namespace

Nanoseconds DeviceStep::length() const {
  return std::accumulate(uses.begin(), uses.end(), Nanoseconds{0});
}

void DeviceClock::add(const KinetoRecording& recording, std::span<const KinetoStep> steps,
                      const Attribution& attribution, std::span<const CollectiveCall> calls) {
  std::vector<const CollectiveCall*> others;
  for (const CollectiveCall& call : calls) {
    if (call.kernels > 0 && !exchanges(recording, attribution, call)) {
      others.push_back(&call);
    }
  }
  const std::size_t first = marks_.size();
  for (const KinetoStep& step : steps) {
    marks_.push_back({kNone, 0, step.end - step.begin});
  }
  for (const DeviceItem& item : attribution.items) {
    const DeviceUse use = use_of(item, others);
    spans_.push_back(
        {item.begin, item.end, std::max(item.launched + kLateLaunch, item.launch_end), use});
    if (item.step >= 0 && use <= DeviceUse::exchange) {
      Mark& mark = marks_[first + static_cast<std::size_t>(item.step)];
      mark.begin = use == DeviceUse::compute ? std::min(mark.begin, item.begin) : mark.begin;
      mark.end = std::max(mark.end, item.end);
    }
  }
}

std::vector<DeviceStep> DeviceClock::finish() {
  std::ranges::sort(spans_, {}, [](const Span& span) { return std::tuple(span.begin, span.due); });
  std::vector<DeviceStep> steps;
  std::size_t first = 0;
  for (std::size_t i = 0; i < marks_.size(); ++i) {
    const bool follows = i > 0 && marks_[i - 1].end > 0;
    const Nanoseconds begin = follows ? marks_[i - 1].end : marks_[i].begin;
    const Nanoseconds end = marks_[i].end;
    DeviceStep& step = steps.emplace_back();
    if (begin == kNone || end <= begin) {
      continue;
    }
    step = split(first, begin, end);
    if (!follows) {
      step.uses[static_cast<std::size_t>(DeviceUse::host)] +=
          std::max<Nanoseconds>(marks_[i].wall - step.length(), 0);
    }
  }
  return steps;
}

// From `begin` to `end`; the spans are sorted by begin, and those before `first` end before.
DeviceStep DeviceClock::split(std::size_t& first, Nanoseconds begin, Nanoseconds end) const {
  while (first < spans_.size() && spans_[first].end <= begin) {
    ++first;
  }
  DeviceStep step;
  constexpr auto kWorking = static_cast<std::size_t>(DeviceUse::host);
  std::array<Nanoseconds, kWorking> covered{};
  std::array<Nanoseconds, kWorking> until{}; // [use] end of all work so far of it or an earlier one
  until.fill(begin);
  for (std::size_t s = first; s < spans_.size(); ++s) {
    const Span& span = spans_[s];
    if (const Nanoseconds gap = std::min(span.begin, end) - until.back(); gap > 0) {
      const DeviceUse use = span.due > until.back() ? DeviceUse::host : DeviceUse::idle;
      step.uses[static_cast<std::size_t>(use)] += gap;
    }
    if (span.begin >= end) {
      break;
    }
    for (auto u = static_cast<std::size_t>(span.use); u < kWorking; ++u) {
      covered[u] +=
          std::max<Nanoseconds>(std::min(span.end, end) - std::max(span.begin, until[u]), 0);
      until[u] = std::max(until[u], span.end);
    }
  }
  for (std::size_t u = 0; u < kWorking; ++u) {
    step.uses[u] = covered[u] - (u == 0 ? 0 : covered[u - 1]);
  }
  return step;
}

} // namespace stepsim::io
