// What launched each kernel, and in which step and operator it did: a kernel is tied to its launch
// by a correlation number, and the launch lies, on its thread, within one outermost operator. All
// searches are over sorted lists, O(log events) per kernel.
#include "import/kineto/kineto_attribution.hpp"

#include <set>

#include "base/collected.hpp"
#include "scenario/files/import_source.hpp"

namespace stepsim::io {

namespace {

std::int32_t index_of(std::size_t i) { return static_cast<std::int32_t>(i); }

// Ties (integer stamps: an operator and its only child) go by the order of recording, which the
// external id tells; then by name, so that the order of events in the file means nothing. What
// decides nearly always is sorted by itself: events of a long recording are far apart in memory.
std::vector<Operator> sorted_operators(const KinetoRecording& recording) {
  struct Key {
    std::int32_t thread{}, event{};
    Nanoseconds begin{}, duration{};
    std::int64_t external_id{};
  };
  std::vector<Key> keys;
  for (std::size_t i = 0; i < recording.events.size(); ++i) {
    const KinetoEvent& event = recording.events[i];
    if (event.category == KinetoCategory::cpu_operator) {
      keys.push_back({event.thread, index_of(i), event.begin, event.duration, event.external_id});
    }
  }
  const auto earlier = [&](const Key& a, const Key& b) {
    // Of operators that begin together the longest is the first.
    const auto order = std::tie(a.thread, a.begin, b.duration, a.external_id) <=>
                       std::tie(b.thread, b.begin, a.duration, b.external_id);
    if (order != 0) {
      return order < 0;
    }
    const KinetoEvent& x = recording.event(a.event);
    const KinetoEvent& y = recording.event(b.event);
    return std::tuple(recording.name(x), x.sequence) < std::tuple(recording.name(y), y.sequence);
  };
  if (!std::ranges::is_sorted(keys, earlier)) {
    std::ranges::sort(keys, earlier);
  }
  return base::collected<Operator>(keys, [](const Key& key) { return Operator{key.event, 0}; });
}

// Sorted by thread and start, an operator is an outermost one iff it begins after the last such one
// of its thread has ended.
void find_tops(const KinetoRecording& recording, Attribution& result) {
  for (Operator& op : result.operators) {
    const KinetoEvent& event = recording.event(op.event);
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
  Nanoseconds begin{}, end{};
  std::int32_t thread{};
  bool graph = false; // of a whole CUDA graph
};

// Of several launches with one number the first counts.
std::vector<Launch> launches_by_correlation(const KinetoRecording& recording) {
  std::vector<Launch> launches;
  for (const KinetoEvent& event : recording.events) {
    if (event.category == KinetoCategory::launch) {
      launches.push_back({event.correlation, event.begin, event.end(), event.thread,
                          recording.name(event).ends_with("GraphLaunch")});
    }
  }
  std::ranges::sort(launches, {},
                    [](const Launch& l) { return std::tuple(l.correlation, l.begin); });
  return launches;
}

// Kernels of NCCL are called ncclKernel.., ncclDevKernel.. or NCCL.., by version; of the other
// libraries it is enough that their name occurs.
bool is_communication(std::string_view kernel) {
  static constexpr std::array<std::string_view, 7> kLibraries{
      "nccl", "nvshmem", "deep_ep", "::ep::internode", "::ep::intranode", "mscclpp", "oneccl"};
  const std::string lower = lower_case(kernel);
  return std::ranges::any_of(kLibraries, [&](std::string_view library) {
    return lower.find(library) != std::string::npos;
  });
}

constexpr std::string_view kAccumulate = "torch::autograd::AccumulateGrad";

// The nodes of a step are operators of autograd's engine. Profilers until 2021 do not have those;
// then they are what other threads than that of the forward pass run and autograd names.
void find_nodes(const KinetoRecording& recording, std::span<const KinetoStep> steps,
                std::vector<TopOperator>& tops) {
  const auto name = [&](const TopOperator& top) {
    return recording.name(recording.event(top.event));
  };
  std::vector<char> has_engine(steps.size());
  for (const TopOperator& top : tops) {
    if (name(top).starts_with(kBackwardPrefix)) {
      if (const std::int32_t step = step_at(steps, top.begin); step >= 0) {
        has_engine[static_cast<std::size_t>(step)] = 1;
      }
    }
  }
  for (TopOperator& top : tops) {
    const std::string_view text = name(top);
    const std::int32_t step = step_at(steps, top.begin);
    const bool engine = text.starts_with(kBackwardPrefix);
    const bool gradient = text.find(kAccumulate) != std::string_view::npos;
    const bool older = step >= 0 && has_engine[static_cast<std::size_t>(step)] == 0 &&
                       top.thread != steps[static_cast<std::size_t>(step)].thread &&
                       (is_backward_name(text) || text == kAccumulate);
    if (engine || older) {
      top.kind = gradient ? NodeKind::gradient : NodeKind::backward;
    }
  }
}

// The intervals of the annotations whose name starts with `prefix`, joined.
std::vector<HostInterval> annotated(const KinetoRecording& recording, std::string_view prefix) {
  std::vector<HostInterval> found;
  for (const KinetoEvent& event : recording.events) {
    if (event.category == KinetoCategory::annotation && recording.name(event).starts_with(prefix)) {
      found.push_back({event.thread, event.begin, event.end()});
    }
  }
  return joined_intervals(std::move(found));
}

} // namespace

std::vector<HostInterval> joined_intervals(std::vector<HostInterval> intervals) {
  std::ranges::sort(intervals, {},
                    [](const HostInterval& i) { return std::tuple(i.thread, i.begin); });
  std::vector<HostInterval> joined;
  for (const HostInterval& interval : intervals) {
    if (!joined.empty() && joined.back().thread == interval.thread &&
        interval.begin < joined.back().end) {
      joined.back().end = std::max(joined.back().end, interval.end);
    } else {
      joined.push_back(interval);
    }
  }
  return joined;
}

bool is_backward_name(std::string_view name) {
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') {
    name.remove_suffix(1);
  }
  return name.ends_with("Backward");
}

// A range has no sequence number, no namespace in its name and no backward node, and some operator
// lies in it.
std::vector<Operator> demote_ranges(KinetoRecording& recording) {
  std::set<std::string_view> backward;
  for (const std::string& name : recording.names) {
    if (is_backward_name(name)) {
      const std::string_view plain = std::string_view(name).substr(0, name.rfind("Backward"));
      backward.insert(plain.starts_with(kBackwardPrefix) ? plain.substr(kBackwardPrefix.size())
                                                         : plain);
    }
  }
  // Of each name once, whether a range may be called so.
  std::vector<char> of_range(recording.names.size());
  std::ranges::transform(recording.names, of_range.begin(), [&](const std::string& name) {
    return name.find("::") == std::string::npos && !is_backward_name(name) &&
           name != "record_param_comms" && !backward.contains(name);
  });
  std::vector<Operator> operators = sorted_operators(recording);
  for (std::size_t i = 0; i + 1 < operators.size(); ++i) {
    KinetoEvent& event = recording.events[static_cast<std::size_t>(operators[i].event)];
    if (event.sequence >= 0 || event.detail >= 0 ||
        of_range[static_cast<std::size_t>(event.name)] == 0) {
      continue;
    }
    const KinetoEvent& next = recording.event(operators[i + 1].event);
    if (next.thread == event.thread && next.begin < event.end() &&
        recording.name(next).find("::") != std::string_view::npos) {
      event.category = KinetoCategory::annotation;
    }
  }
  std::erase_if(operators, [&](const Operator& op) {
    return recording.event(op.event).category != KinetoCategory::cpu_operator;
  });
  return operators;
}

Attribution attribute(const KinetoRecording& recording, std::span<const KinetoStep> steps,
                      std::vector<Operator> operators) {
  Attribution result;
  result.operators = std::move(operators);
  find_tops(recording, result);
  find_nodes(recording, steps, result.tops);
  const std::vector<Launch> launches = launches_by_correlation(recording);
  const std::vector<HostInterval> updates = annotated(recording, "Optimizer.step#");
  const std::vector<HostInterval> zeroings = annotated(recording, "Optimizer.zero_grad#");
  const std::vector<HostInterval> calls = annotated(recording, "nccl:");
  IntervalSearch find_update(updates);
  IntervalSearch find_zeroing(zeroings);
  IntervalSearch find_call(calls);
  IntervalSearch find_top(result.tops);
  auto launch = launches.begin();
  std::vector<char> communicates(recording.names.size());
  std::ranges::transform(recording.names, communicates.begin(), is_communication);

  // The table of IO 4.4, first rule that fits.
  const auto work_class = [&](const KinetoEvent& event, const DeviceItem& item, const Launch& by) {
    const std::string_view op =
        item.top < 0 ? "" : recording.name(recording.event(result.top(item.top).event));
    // The thread that marks the steps is the one that runs forward; backward has threads of its
    // own.
    const bool forward_thread = by.thread == steps[static_cast<std::size_t>(item.step)].thread;
    if (find_update.at(by.thread, by.begin) >= 0) {
      return WorkClass::update;
    }
    if (item.top >= 0 && result.top(item.top).kind != NodeKind::none) {
      return WorkClass::backward;
    }
    if (op.starts_with("torch.distributed.ddp") || op.starts_with("c10d::")) {
      return WorkClass::framework;
    }
    if (find_zeroing.at(by.thread, by.begin) >= 0) {
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
    launch =
        partition_point_near(launches.begin(), launches.end(), launch, [&](const Launch& each) {
          return each.correlation < event.correlation;
        });
    if (event.correlation >= 0 && launch != launches.end() &&
        launch->correlation == event.correlation) {
      // Work belongs to the step in which it was launched, also where the device comes to it later.
      item.launched = launch->begin;
      item.launch_end = launch->end;
      item.thread = launch->thread;
      item.in_graph = launch->graph;
      item.step = step_at(steps, launch->begin);
      item.top = find_top.at(launch->thread, launch->begin);
    }
    // Communication is told by the kernel or by the call, all other work by who launched it.
    if (event.category == KinetoCategory::kernel &&
        (communicates[static_cast<std::size_t>(event.name)] != 0 ||
         (item.thread >= 0 && find_call.at(item.thread, item.launched) >= 0))) {
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
