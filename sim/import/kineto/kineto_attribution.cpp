// What launched each kernel, and in which step and operator it did: a kernel is tied to its launch
// by a correlation number, and the launch lies, on its thread, within one outermost operator. All
// searches are over sorted lists, O(log events) per kernel.
#include "import/kineto/kineto_attribution.hpp"

#include <algorithm>
#include <tuple>

namespace stepsim::io {

namespace {

struct Interval {
  std::int32_t thread{};
  Nanoseconds begin{};
  Nanoseconds end{};
};

// Index of the last interval of `thread` that begins at or before `moment` and ends after it;
// intervals are sorted by (thread, begin) and do not overlap on a thread. -1 if none.
template <class Intervals>
std::int32_t interval_at(const Intervals& intervals, std::int32_t thread, Nanoseconds moment) {
  const auto after = std::upper_bound(intervals.begin(), intervals.end(), std::tie(thread, moment),
                                      [](const auto& key, const auto& interval) {
                                        return key < std::tie(interval.thread, interval.begin);
                                      });
  if (after == intervals.begin()) {
    return -1;
  }
  const auto& candidate = *(after - 1);
  if (candidate.thread != thread || moment >= candidate.end) {
    return -1;
  }
  return static_cast<std::int32_t>(after - intervals.begin() - 1);
}

// Annotations whose name starts with `prefix`, overlapping ones of a thread joined.
std::vector<Interval> annotated(const KinetoRecording& recording, std::string_view prefix) {
  std::vector<Interval> found;
  for (const KinetoEvent& event : recording.events) {
    if (event.category == KinetoCategory::annotation && recording.name(event).starts_with(prefix)) {
      found.push_back({event.thread, event.begin, event.end()});
    }
  }
  std::ranges::sort(found, {}, [](const Interval& i) { return std::tuple(i.thread, i.begin); });
  std::vector<Interval> joined;
  for (const Interval& interval : found) {
    if (!joined.empty() && joined.back().thread == interval.thread &&
        interval.begin < joined.back().end) {
      joined.back().end = std::max(joined.back().end, interval.end);
    } else {
      joined.push_back(interval);
    }
  }
  return joined;
}

std::int32_t index_of(std::size_t i) { return static_cast<std::int32_t>(i); }

// Ties (integer stamps: an operator and its only child) go by the order of recording, which the
// external id tells; then by name, so that the order of events in the file means nothing.
void sort_operators(const KinetoRecording& recording, std::vector<Operator>& operators) {
  std::ranges::sort(operators, [&](const Operator& a, const Operator& b) {
    const KinetoEvent& x = recording.events[static_cast<std::size_t>(a.event)];
    const KinetoEvent& y = recording.events[static_cast<std::size_t>(b.event)];
    const auto key = [](const KinetoEvent& e) {
      return std::tuple(e.thread, e.begin, -e.duration, e.external_id);
    };
    const auto first = key(x);
    const auto second = key(y);
    return first != second ? first < second
                           : std::tuple(recording.name(x), x.sequence) <
                                 std::tuple(recording.name(y), y.sequence);
  });
}

// Sorted by thread and start, an operator is an outermost one iff it begins after the last such one
// of its thread has ended.
void find_tops(const KinetoRecording& recording, Attribution& result) {
  for (std::size_t i = 0; i < recording.events.size(); ++i) {
    if (recording.events[i].category == KinetoCategory::cpu_operator) {
      result.operators.push_back({index_of(i), 0});
    }
  }
  sort_operators(recording, result.operators);
  for (Operator& op : result.operators) {
    const KinetoEvent& event = recording.events[static_cast<std::size_t>(op.event)];
    const bool inside = !result.tops.empty() && result.tops.back().thread == event.thread &&
                        event.begin < result.tops.back().end;
    if (!inside) {
      result.tops.push_back({event.begin, event.end(), op.event, event.thread});
    }
    op.top = index_of(result.tops.size()) - 1;
  }
}

struct Launch {
  std::int64_t correlation{};
  Nanoseconds begin{};
  std::int32_t thread{};
};

// Of several launches with one number the first counts.
std::vector<Launch> launches_by_correlation(const KinetoRecording& recording) {
  std::vector<Launch> launches;
  for (const KinetoEvent& event : recording.events) {
    if (event.category == KinetoCategory::launch) {
      launches.push_back({event.correlation, event.begin, event.thread});
    }
  }
  std::ranges::sort(launches, {},
                    [](const Launch& l) { return std::tuple(l.correlation, l.begin); });
  return launches;
}

// Kernels of NCCL are called ncclKernel.., ncclDevKernel.. or NCCL.., by version.
bool contains_any_case(std::string_view text, std::string_view lower) {
  const auto same = [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? a + ('a' - 'A') : a) == b;
  };
  return std::search(text.begin(), text.end(), lower.begin(), lower.end(), same) != text.end();
}

} // namespace

Attribution attribute(const KinetoRecording& recording, std::span<const KinetoStep> steps) {
  Attribution result;
  find_tops(recording, result);
  const std::vector<Launch> launches = launches_by_correlation(recording);
  const std::vector<Interval> updates = annotated(recording, "Optimizer.step#");
  const std::vector<Interval> zeroings = annotated(recording, "Optimizer.zero_grad#");
  std::vector<char> is_nccl(recording.names.size());
  std::ranges::transform(recording.names, is_nccl.begin(),
                         [](const std::string& name) { return contains_any_case(name, "nccl"); });

  // The table of IO 4.4, first rule that fits.
  const auto work_class = [&](const KinetoEvent& event, const DeviceItem& item,
                              const Launch& launch) {
    const std::string_view op = item.top < 0
                                    ? std::string_view()
                                    : recording.name(recording.events[static_cast<std::size_t>(
                                          result.tops[static_cast<std::size_t>(item.top)].event)]);
    // The thread that marks the steps is the one that runs forward; backward has threads of its
    // own.
    const bool forward_thread = launch.thread == steps[static_cast<std::size_t>(item.step)].thread;
    if (interval_at(updates, launch.thread, launch.begin) >= 0) {
      return WorkClass::update;
    }
    if (op.starts_with(kBackwardPrefix)) {
      return WorkClass::backward;
    }
    if (op.starts_with("torch.distributed.ddp") || op.starts_with("c10d::")) {
      return WorkClass::framework;
    }
    if (interval_at(zeroings, launch.thread, launch.begin) >= 0) {
      return WorkClass::other;
    }
    if (forward_thread && event.category == KinetoCategory::copy &&
        recording.name(event).find("HtoD") != std::string_view::npos) {
      return WorkClass::input;
    }
    return forward_thread ? WorkClass::forward : WorkClass::other;
  };

  for (std::size_t i = 0; i < recording.events.size(); ++i) {
    const KinetoEvent& event = recording.events[i];
    // Kernels, copies and fills: whatever keeps the device busy.
    if (!on_device(event.category)) {
      continue;
    }
    DeviceItem item;
    item.begin = event.begin;
    item.end = event.end();
    item.event = index_of(i);
    const auto launch =
        std::ranges::lower_bound(launches, event.correlation, {}, &Launch::correlation);
    if (event.correlation >= 0 && launch != launches.end() &&
        launch->correlation == event.correlation) {
      // Work belongs to the step in which it was launched, also where the device comes to it later.
      item.launched = launch->begin;
      item.step = step_at(steps, launch->begin);
      item.top = interval_at(result.tops, launch->thread, launch->begin);
    }
    // Communication is told by the kernel, all other work by who launched it.
    if (event.category == KinetoCategory::kernel &&
        is_nccl[static_cast<std::size_t>(event.name)] != 0) {
      item.work = WorkClass::communication;
    } else if (item.step >= 0) {
      item.work = work_class(event, item, *launch);
    }
    result.device_time += item.duration();
    result.outside_steps += item.step < 0 ? item.duration() : 0;
    result.items.push_back(item);
  }
  std::ranges::sort(result.items, {}, [](const DeviceItem& i) {
    return std::tuple(i.step, i.launched, i.begin, i.end, i.work);
  });
  return result;
}

} // namespace stepsim::io
