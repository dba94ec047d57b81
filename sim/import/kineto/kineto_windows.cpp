#include "import/kineto/kineto_rank.hpp"

#include <iterator>
#include <set>

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

Nanoseconds DeviceStep::length() const { return base::sum_of<Nanoseconds>(uses); }

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
    marks_.push_back({kNone, 0, step.begin, step.end - step.begin});
  }
  // Profilers until 2021 record it as an operator.
  for (const KinetoEvent& event : recording.events) {
    if ((event.category == KinetoCategory::annotation ||
         event.category == KinetoCategory::cpu_operator) &&
        recording.name(event).starts_with("enumerate(DataLoader)")) {
      loader_.push_back({0, event.begin, event.end()});
    }
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
  loader_ = joined_intervals(std::move(loader_));
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
      const Nanoseconds before = std::max<Nanoseconds>(marks_[i].wall - step.length(), 0);
      const Nanoseconds input = std::min(before, in_loader(marks_[i].host_begin, begin));
      step.uses[static_cast<std::size_t>(DeviceUse::loader)] += input;
      step.uses[static_cast<std::size_t>(DeviceUse::host)] += before - input;
    }
  }
  return steps;
}

Nanoseconds DeviceClock::in_loader(Nanoseconds begin, Nanoseconds end) const {
  Nanoseconds sum = 0;
  for (auto at = std::ranges::upper_bound(loader_, begin, {}, &HostInterval::end);
       at != loader_.end() && at->begin < end; ++at) {
    sum += std::min(end, at->end) - std::max(begin, at->begin);
  }
  return sum;
}

// From `begin` to `end`; the spans are sorted by begin, and those before `first` end before.
DeviceStep DeviceClock::split(std::size_t& first, Nanoseconds begin, Nanoseconds end) const {
  while (first < spans_.size() && spans_[first].end <= begin) {
    ++first;
  }
  DeviceStep step;
  constexpr auto kWorking = static_cast<std::size_t>(DeviceUse::loader);
  std::array<Nanoseconds, kWorking> covered{};
  std::array<Nanoseconds, kWorking> until{}; // [use] end of all work so far of it or an earlier one
  until.fill(begin);
  for (std::size_t s = first; s < spans_.size(); ++s) {
    const Span& span = spans_[s];
    if (const Nanoseconds gap = std::min(span.begin, end) - until.back(); gap > 0) {
      const bool late = span.due > until.back();
      const Nanoseconds input = late ? in_loader(until.back(), until.back() + gap) : 0;
      step.uses[static_cast<std::size_t>(DeviceUse::loader)] += input;
      step.uses[static_cast<std::size_t>(late ? DeviceUse::host : DeviceUse::idle)] += gap - input;
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

// The first window begins before all events, and the last one ends behind them.
void KinetoWindows::make_windows(const std::vector<KinetoStep>& steps) {
  const std::size_t count = std::min(
      steps.size(), recording_.more->size() / std::max<std::size_t>(recording_.most_events, 1) + 1);
  const std::size_t together = (steps.size() + count - 1) / count;
  for (std::size_t first = 0; first < steps.size(); first += together) {
    const std::size_t last = std::min(first + together, steps.size());
    windows_.push_back({{first, last, first == 0 ? -kNone : steps[first].begin,
                         last == steps.size() ? kNone : steps[last].begin}});
  }
}

// The file is read twice: for the annotations, which tell the steps, and to deal out its events.
void KinetoWindows::fill_windows() {
  std::vector<std::pair<std::int64_t, Nanoseconds>> launches; // correlation, start
  std::map<std::int64_t, Nanoseconds> calls;                  // of collectives, by external id
  recording_.more->each([&](const KinetoEvent& event) {
    if (event.category == KinetoCategory::launch) {
      launches.emplace_back(event.correlation, event.begin);
    } else if (event.category == KinetoCategory::cpu_operator && event.external_id >= 0 &&
               recording_.name(event) == "record_param_comms") {
      calls.emplace(event.external_id, event.begin);
    }
  });
  std::ranges::sort(launches);
  const auto window_at = [&](Nanoseconds moment) {
    return std::ranges::upper_bound(windows_, moment, {},
                                    [](const Window& each) { return each.range.begin; }) -
           windows_.begin() - 1;
  };
  // Of several launches with one number the first counts; without a launch a kernel of a collective
  // is found by the call's number.
  const auto moment_of = [&](const KinetoEvent& event) {
    const auto launch = std::ranges::lower_bound(launches, event.correlation, {},
                                                 &std::pair<std::int64_t, Nanoseconds>::first);
    if (event.correlation >= 0 && launch != launches.end() && launch->first == event.correlation) {
      return launch->second;
    }
    const auto call = calls.find(event.external_id);
    return event.external_id >= 0 && call != calls.end() ? call->second : event.begin;
  };
  recording_.more->each([&](const KinetoEvent& event) {
    const bool device = on_device(event.category);
    auto window = window_at(device ? moment_of(event) : event.begin);
    windows_[static_cast<std::size_t>(window)].events.append(event);
    const bool reaches = !device && event.category != KinetoCategory::launch;
    while (reaches && ++window < std::ssize(windows_) &&
           windows_[static_cast<std::size_t>(window)].range.begin < event.end()) {
      windows_[static_cast<std::size_t>(window)].events.append(event);
    }
  });
  recording_.more.reset();
}

void KinetoWindows::load(Window& window) {
  recording_.events.clear();
  window.events.each([&](const KinetoEvent& event) { recording_.events.push_back(event); });
  operators_ = demote_ranges(recording_);
}

void KinetoWindows::load(std::size_t step) {
  const auto window = std::ranges::find_if(
      windows_, [&](const Window& each) { return step < each.range.last_step; });
  if (window != windows_.end()) {
    load(*window);
  }
}

void KinetoWindows::sample_into(KinetoRank& rank, const Range& range) {
  const std::span<const KinetoStep> steps(rank.intervals.data() + range.first_step,
                                          range.last_step - range.first_step);
  const Attribution attribution = attribute(recording_, steps, std::move(operators_));
  std::vector<CollectiveCall> calls = collective_calls(recording_, steps, attribution);
  std::ranges::move(sample_steps(recording_, steps, attribution, calls),
                    std::back_inserter(rank.steps));
  clock_.add(recording_, steps, attribution, calls);
  for (CollectiveCall& call : calls) {
    if (call.begin >= range.begin && call.begin < range.end) { // else another window's
      call.step += call.step >= 0 ? static_cast<std::int32_t>(range.first_step) : 0;
      rank.calls.push_back(std::move(call));
    }
  }
  device_time_ += attribution.device_time;
  outside_steps_ += attribution.outside_steps;
}

void KinetoWindows::sample(const std::optional<std::string>& step_annotation, KinetoRank& rank) {
  const bool in_memory = recording_.more == nullptr;
  bool device = false;
  std::vector<bool> has_kernels(recording_.processes.size()); // [thread]
  const auto look = [&](const KinetoEvent& event) {
    device = device || on_device(event.category);
    if (event.category == KinetoCategory::kernel) {
      has_kernels[static_cast<std::size_t>(event.thread)] = true;
    }
    if (!in_memory && event.category == KinetoCategory::annotation) {
      recording_.events.push_back(event);
    }
  };
  if (in_memory) {
    std::ranges::for_each(recording_.events, look);
  } else {
    recording_.more->each(look);
  }
  if (!device) {
    throw InputError(recording_.file, "",
                     "no GPU activity recorded: profile with ProfilerActivity.CUDA");
  }
  std::set<std::string_view> gpus;
  for (std::size_t i = 0; i < has_kernels.size(); ++i) {
    if (has_kernels[i]) {
      gpus.insert(recording_.processes[i]);
    }
  }
  rank.gpus = gpus.size();
  if (in_memory) {
    operators_ = demote_ranges(recording_);
  }
  rank.intervals = find_steps(recording_, step_annotation);
  if (in_memory) {
    sample_into(rank, {0, rank.intervals.size(), -kNone, kNone});
  } else {
    recording_.events =
        std::vector<KinetoEvent>(); // a window needs less memory than what reading the file took
    make_windows(rank.intervals);
    fill_windows();
    const auto events_of = [](const Window& window) { return window.events.size(); };
    recording_.events.reserve(events_of(*std::ranges::max_element(windows_, {}, events_of)));
    for (Window& window : windows_) {
      load(window);
      sample_into(rank, window.range);
    }
  }
  rank.device_use = clock_.finish();
  if (device_time_ > 0) {
    rank.unattributed_fraction =
        static_cast<double>(outside_steps_) / static_cast<double>(device_time_);
  }
}

} // namespace stepsim::io
