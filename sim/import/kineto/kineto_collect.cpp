// One event of the file to one of a fixed size: names and threads become numbers, and of the
// arguments only those of collectives and gradients are kept, beside the event.
#include "import/kineto/kineto_collect.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "base/error.hpp"

namespace stepsim::io {

namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 50; // bytes stay exact in a double
constexpr Nanoseconds kLargestTime = std::numeric_limits<Nanoseconds>::max();

// Categories that say where time goes; others (Python stacks, memory) are not kept.
std::optional<KinetoCategory> category_of(std::string_view text) {
  struct Row {
    std::string_view text;
    KinetoCategory category;
  };
  static constexpr std::array kRows{
      Row{"cpu_op", KinetoCategory::cpu_operator},
      Row{"cuda_runtime", KinetoCategory::launch},
      Row{"kernel", KinetoCategory::kernel},
      Row{"gpu_memcpy", KinetoCategory::copy},
      Row{"gpu_memset", KinetoCategory::fill},
      Row{"cuda_driver", KinetoCategory::launch},
      Row{"user_annotation", KinetoCategory::annotation},
      Row{"Operator", KinetoCategory::cpu_operator}, // the last five: older profilers
      Row{"Runtime", KinetoCategory::launch},
      Row{"Kernel", KinetoCategory::kernel},
      Row{"Memcpy", KinetoCategory::copy},
      Row{"Memset", KinetoCategory::fill},
  };
  const auto row = std::ranges::find(kRows, text, &Row::text);
  return row == kRows.end() ? std::nullopt : std::optional(row->category);
}

// Why a time could not be read.
std::string time_message(const RawTime& time) {
  if (time.state == RawTime::State::missing) {
    return "required, in microseconds";
  }
  const char first = time.shown.empty() ? ' ' : time.shown.front();
  const std::string_view rule = first == '-'                   ? "must be >= 0"
                                : first >= '0' && first <= '9' ? "must be below 2^63 ns"
                                                               : "must be a number";
  return std::string(rule) + ", got " + base::shown_value(time.shown);
}

// Profilers of 2021 mark steps by operators of these names and not by annotations.
bool marks_step(std::string_view name) {
  return name.starts_with("ProfilerStep#") || name.starts_with("Optimizer.step#");
}

} // namespace

// Times are microseconds with decimals, kept as whole nanoseconds.
void RawTime::set(std::string_view literal) {
  if (const auto read = nanoseconds_from_microseconds(literal)) {
    state = State::good;
    value = *read;
  } else {
    set_bad(literal);
  }
}

// Whole microseconds, as older profilers write them.
void RawTime::set_integer(std::int64_t microseconds) {
  if (microseconds < 0 || microseconds > kLargestTime / 1000) {
    set_bad(std::to_string(microseconds));
  } else {
    state = State::good;
    value = microseconds * 1000;
  }
}

void RawEvent::clear() {
  complete = false;
  event = {};
  ts.state = dur.state = RawTime::State::missing;
  for (std::string* text : {&category, &name, &pid, &tid, &collective, &dtype, &input_type}) {
    text->clear();
  }
  elements = -1;
  shape = Shape::missing;
  shape_elements = -1;
}

// The product of dimensions, without overflow.
void RawEvent::add_dimension(std::int64_t size) {
  const std::int64_t before = shape_elements < 0 ? 1 : shape_elements;
  const bool fits = size >= 0 && (size == 0 || before <= kMostElements / size);
  shape_elements = fits ? before * size : 0; // 0 elements: no usable shape
}

// A recording has millions of events and a few thousand names.
std::int32_t KinetoCollector::name_number(const std::string& name) {
  const auto next = static_cast<std::int32_t>(recording_.names.size());
  const auto [row, added] = names_.try_emplace(name, next);
  if (added) {
    recording_.names.push_back(name);
  }
  return row->second;
}

// Threads are told apart by process and thread; the separator keeps "1", "23" from "12", "3".
std::int32_t KinetoCollector::thread_number(const RawEvent& raw) {
  thread_key_.assign(raw.pid).push_back('\0');
  thread_key_ += raw.tid;
  const auto next = static_cast<std::int32_t>(threads_.size());
  return threads_.try_emplace(thread_key_, next).first->second;
}

// The position of what only collectives and gradients have; -1 for other events.
std::int32_t KinetoCollector::detail_number(const RawEvent& raw) {
  if (!raw.collective.empty() && raw.elements <= kMostElements &&
      raw.name == "record_param_comms") {
    recording_.collectives.push_back({raw.collective, raw.dtype, raw.elements});
    return static_cast<std::int32_t>(recording_.collectives.size()) - 1;
  }
  if (raw.shape == RawEvent::Shape::done && raw.shape_elements > 0 &&
      raw.name == "torch::autograd::AccumulateGrad") {
    recording_.gradients.push_back({raw.shape_elements, raw.input_type});
    return static_cast<std::int32_t>(recording_.gradients.size()) - 1;
  }
  return -1;
}

// Events of other phases and categories are dropped without looking at their times.
KinetoCollector::Fault KinetoCollector::add(const RawEvent& raw) {
  const auto category = raw.complete ? category_of(raw.category) : std::nullopt;
  if (!category) {
    return {};
  }
  KinetoEvent event = raw.event;
  event.category = *category == KinetoCategory::cpu_operator && marks_step(raw.name)
                       ? KinetoCategory::annotation
                       : *category;
  if (raw.ts.state != RawTime::State::good) {
    return {"/ts", time_message(raw.ts)};
  }
  if (raw.dur.state != RawTime::State::good) {
    return {"/dur", time_message(raw.dur)};
  }
  event.begin = raw.ts.value;
  event.duration = raw.dur.value;
  // Every later sum of durations fits as well.
  if (event.duration > kLargestTime - std::max(event.begin, durations_)) {
    return {"/dur", "the event ends, or all durations sum up, beyond 2^63 ns"};
  }
  durations_ += event.duration;
  if (event.category == KinetoCategory::launch && event.correlation < 0) {
    return {}; // starts nothing on the device
  }
  event.name = name_number(raw.name);
  event.thread = thread_number(raw);
  event.detail = event.category == KinetoCategory::cpu_operator ? detail_number(raw) : -1;
  recording_.events.push_back(event);
  return {};
}

void KinetoCollector::refuse(const std::string& where, const std::string& message) const {
  throw InputError(recording_.file, where, message);
}

} // namespace stepsim::io
