#include "io/kineto_sax.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "base/error.hpp"

namespace stepsim::io {

namespace {

constexpr std::size_t kMaxDepth = 256;
constexpr std::int64_t kMostElements = std::int64_t{1} << 50; // bytes stay exact in a double

struct KeyName {
  std::string_view text;
  KinetoKey key;
};

template <std::size_t N>
KinetoKey look_up(const std::array<KeyName, N>& table, std::string_view text) {
  for (const KeyName& row : table) {
    if (row.text == text) {
      return row.key;
    }
  }
  return KinetoKey::other;
}

constexpr std::array kFileKeys{KeyName{"traceEvents", KinetoKey::trace_events},
                               KeyName{"deviceProperties", KinetoKey::device_properties},
                               KeyName{"distributedInfo", KinetoKey::distributed_info}};
constexpr std::array kEventKeys{KeyName{"ph", KinetoKey::ph},     KeyName{"cat", KinetoKey::cat},
                                KeyName{"name", KinetoKey::name}, KeyName{"pid", KinetoKey::pid},
                                KeyName{"tid", KinetoKey::tid},   KeyName{"ts", KinetoKey::ts},
                                KeyName{"dur", KinetoKey::dur},   KeyName{"args", KinetoKey::args}};
constexpr std::array kArgumentKeys{KeyName{"External id", KinetoKey::external_id},
                                   KeyName{"correlation", KinetoKey::correlation},
                                   KeyName{"Sequence number", KinetoKey::sequence},
                                   KeyName{"Input Dims", KinetoKey::input_dims},
                                   KeyName{"Input type", KinetoKey::input_type},
                                   KeyName{"Collective name", KinetoKey::collective},
                                   KeyName{"In msg nelems", KinetoKey::elements},
                                   KeyName{"dtype", KinetoKey::dtype}};

struct CategoryName {
  std::string_view text;
  KinetoCategory category;
};
constexpr std::array kCategories{CategoryName{"cpu_op", KinetoCategory::cpu_operator},
                                 CategoryName{"cuda_runtime", KinetoCategory::launch},
                                 CategoryName{"kernel", KinetoCategory::kernel},
                                 CategoryName{"gpu_memcpy", KinetoCategory::copy},
                                 CategoryName{"gpu_memset", KinetoCategory::fill},
                                 CategoryName{"cuda_driver", KinetoCategory::launch},
                                 CategoryName{"user_annotation", KinetoCategory::annotation},
                                 CategoryName{"Operator", KinetoCategory::cpu_operator},
                                 CategoryName{"Runtime", KinetoCategory::launch},
                                 CategoryName{"Kernel", KinetoCategory::kernel},
                                 CategoryName{"Memcpy", KinetoCategory::copy},
                                 CategoryName{"Memset", KinetoCategory::fill}};

} // namespace

// Structure

void KinetoSax::count_element() {
  if (in_events_ && depth_ + 1 == event_depth_) {
    ++event_index_;
  }
}

void KinetoSax::open() {
  ++values_;
  count_element();
  if (++depth_ > kMaxDepth) {
    throw InputError(recording_.file, in_events_ ? event_pointer() : "",
                     "nested deeper than " + std::to_string(kMaxDepth));
  }
}

bool KinetoSax::start_object(std::size_t) {
  open();
  if (in_event()) {
    clear_event();
  } else if (in_events_ && depth_ == event_depth_ + 1 && key_ == KinetoKey::args) {
    in_args_ = true;
  } else if (depth_ == 2 && !in_events_ && key_ == KinetoKey::distributed_info) {
    in_distributed_ = true;
  }
  return true;
}

bool KinetoSax::start_array(std::size_t) {
  if (Time* field = in_event() ? time_field() : nullptr) {
    *field = {Time::State::bad, 0, "an array"};
  }
  open();
  const bool file_key = depth_ == 2 && !in_events_;
  if (depth_ == 1 || (file_key && key_ == KinetoKey::trace_events)) {
    in_events_ = found_events_ = true;
    bare_array_ = depth_ == 1;
    event_depth_ = depth_ + 1;
    event_index_ = -1;
  } else if (file_key && key_ == KinetoKey::device_properties) {
    in_devices_ = true;
  } else if (in_args_ && depth_ == event_depth_ + 3 && key_ == KinetoKey::input_dims &&
             fields_.shape == Shape::missing) {
    fields_.shape = Shape::open; // becomes `done` when it holds a number
    fields_.shape_elements = -1;
  }
  return true;
}

bool KinetoSax::close() {
  if (in_event()) {
    finish_event();
  } else if (in_args()) {
    in_args_ = false;
  } else if (in_args_ && depth_ == event_depth_ + 3 && fields_.shape == Shape::open) {
    fields_.shape = fields_.shape_elements < 0 ? Shape::missing : Shape::done;
  } else if (in_events_ && depth_ + 1 == event_depth_) {
    in_events_ = false;
  }
  --depth_;
  if (depth_ == 1) {
    in_devices_ = in_distributed_ = false;
  }
  return true;
}

bool KinetoSax::key(std::string& name) {
  key_ = KinetoKey::other;
  if (in_args()) {
    key_ = look_up(kArgumentKeys, name);
  } else if (in_event()) {
    key_ = look_up(kEventKeys, name);
  } else if (depth_ == 1) {
    key_ = look_up(kFileKeys, name);
  } else if (in_devices_ && depth_ == 3 && name == "name") {
    key_ = KinetoKey::name;
  } else if (in_distributed_ && depth_ == 2 && name == "world_size") {
    key_ = KinetoKey::world_size;
  }
  return true;
}

// Values

KinetoSax::Time* KinetoSax::time_field() {
  return key_ == KinetoKey::ts ? &fields_.ts : key_ == KinetoKey::dur ? &fields_.dur : nullptr;
}

void KinetoSax::set_time(Time& field, std::string_view literal) {
  const auto value = nanoseconds_from_microseconds(literal);
  if (value) {
    field = {Time::State::good, *value, {}};
  } else {
    field = {Time::State::bad, 0, std::string(literal)};
  }
}

bool KinetoSax::scalar(std::string_view shown) {
  ++values_;
  count_element();
  if (in_event()) {
    if (Time* field = time_field()) {
      *field = {Time::State::bad, 0, std::string(shown)};
    }
  }
  return true;
}

bool KinetoSax::number_float(double, const std::string& literal) {
  ++values_;
  count_element();
  if (in_event()) {
    if (Time* field = time_field()) {
      set_time(*field, literal);
    }
  }
  return true;
}

bool KinetoSax::number_unsigned(std::uint64_t value) {
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return number_float(0, std::to_string(value));
  }
  return number_integer(static_cast<std::int64_t>(value));
}

bool KinetoSax::number_integer(std::int64_t value) {
  std::array<char, 24> text; // NOLINT: filled by to_chars
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return integer(value, {text.data(), static_cast<std::size_t>(end - text.data())});
}

bool KinetoSax::integer(std::int64_t value, std::string_view literal) {
  ++values_;
  count_element();
  if (in_event()) {
    if (Time* field = time_field()) {
      constexpr auto kLargest = std::numeric_limits<Nanoseconds>::max() / 1000;
      if (value < 0 || value > kLargest) {
        *field = {Time::State::bad, 0, std::string(literal)};
      } else {
        *field = {Time::State::good, value * 1000, {}};
      }
    } else if (key_ == KinetoKey::pid) {
      fields_.pid = literal;
    } else if (key_ == KinetoKey::tid) {
      fields_.tid = literal;
    }
  } else if (in_args()) {
    switch (key_) { // NOLINT: the other keys hold no integers
    case KinetoKey::correlation:
      fields_.event.correlation = value;
      break;
    case KinetoKey::external_id:
      fields_.event.external_id = value;
      break;
    case KinetoKey::sequence:
      fields_.event.sequence = value;
      break;
    case KinetoKey::elements:
      fields_.elements = value;
      break;
    default:
      break;
    }
  } else if (in_args_ && key_ == KinetoKey::input_dims && depth_ == event_depth_ + 3 &&
             fields_.shape == Shape::open) {
    const std::int64_t before = fields_.shape_elements < 0 ? 1 : fields_.shape_elements;
    const bool fits = value >= 0 && (value == 0 || before <= kMostElements / value);
    fields_.shape_elements = fits ? before * value : 0;
  } else if (in_distributed_ && key_ == KinetoKey::world_size && value >= 1) {
    recording_.world_size = value;
  }
  return true;
}

bool KinetoSax::string(std::string& value) {
  ++values_;
  count_element();
  if (in_event()) {
    switch (key_) { // NOLINT: the other keys hold no strings
    case KinetoKey::ph:
      fields_.complete = value == "X";
      break;
    case KinetoKey::cat:
      fields_.category.swap(value);
      break;
    case KinetoKey::name:
      fields_.name.swap(value);
      break;
    case KinetoKey::pid:
      fields_.pid.swap(value);
      break;
    case KinetoKey::tid:
      fields_.tid.swap(value);
      break;
    case KinetoKey::ts:
      fields_.ts = {Time::State::bad, 0, '"' + value + '"'};
      break;
    case KinetoKey::dur:
      fields_.dur = {Time::State::bad, 0, '"' + value + '"'};
      break;
    default:
      break;
    }
  } else if (in_args() && key_ == KinetoKey::collective) {
    fields_.collective.swap(value);
  } else if (in_args() && key_ == KinetoKey::dtype) {
    fields_.dtype.swap(value);
  } else if (in_args_ && key_ == KinetoKey::input_type && depth_ == event_depth_ + 2 &&
             fields_.input_type.empty()) {
    fields_.input_type.swap(value);
  } else if (in_devices_ && key_ == KinetoKey::name && !recording_.device) {
    recording_.device = value;
  }
  return true;
}

// Events

void KinetoSax::clear_event() {
  fields_.complete = false;
  fields_.shape = Shape::missing;
  fields_.event = {};
  fields_.event.detail = static_cast<std::int32_t>(KinetoEvent::kNone);
  fields_.ts.state = fields_.dur.state = Time::State::missing;
  for (std::string* text : {&fields_.category, &fields_.name, &fields_.pid, &fields_.tid,
                            &fields_.collective, &fields_.dtype, &fields_.input_type}) {
    text->clear();
  }
  fields_.elements = -1;
  fields_.shape_elements = -1;
  in_args_ = false;
}

std::string KinetoSax::event_pointer() const {
  return (bare_array_ ? "/" : "/traceEvents/") + std::to_string(event_index_);
}

Nanoseconds KinetoSax::checked(const Time& field, std::string_view key) const {
  if (field.state == Time::State::good) {
    return field.value;
  }
  const std::string where = event_pointer() + "/" + std::string(key);
  if (field.state == Time::State::missing) {
    throw InputError(recording_.file, where, "required: start and duration in microseconds");
  }
  const char first = field.shown.empty() ? ' ' : field.shown.front();
  const std::string rule = first == '-'                   ? "must be >= 0"
                           : first >= '0' && first <= '9' ? "must be below 2^63 ns"
                                                          : "must be a number";
  throw InputError(recording_.file, where, rule + ", got " + base::shown_value(field.shown));
}

std::int32_t KinetoSax::name_number() {
  const auto [row, added] =
      names_.try_emplace(fields_.name, static_cast<std::int32_t>(recording_.names.size()));
  if (added) {
    recording_.names.push_back(fields_.name);
  }
  return row->second;
}

std::int32_t KinetoSax::thread_number() {
  thread_key_.assign(fields_.pid).push_back('\0');
  thread_key_ += fields_.tid;
  return threads_.try_emplace(thread_key_, static_cast<std::int32_t>(threads_.size()))
      .first->second;
}

void KinetoSax::add_detail(KinetoEvent& event) {
  if (!fields_.collective.empty() && fields_.name == "record_param_comms") {
    event.detail = static_cast<std::int32_t>(recording_.collectives.size());
    recording_.collectives.push_back({fields_.collective, fields_.dtype, fields_.elements});
  } else if (fields_.shape == Shape::done && fields_.shape_elements > 0 &&
             fields_.name == "torch::autograd::AccumulateGrad") {
    event.detail = static_cast<std::int32_t>(recording_.gradients.size());
    recording_.gradients.push_back({fields_.shape_elements, fields_.input_type});
  }
}

void KinetoSax::finish_event() {
  if (!fields_.complete) {
    return;
  }
  const auto* row = kCategories.begin();
  while (row != kCategories.end() && row->text != fields_.category) {
    ++row;
  }
  if (row == kCategories.end()) {
    return;
  }
  KinetoEvent event = fields_.event;
  event.category = row->category;
  event.begin = checked(fields_.ts, "ts");
  event.duration = checked(fields_.dur, "dur");
  // No later sum of durations can overflow.
  constexpr Nanoseconds kLargest = std::numeric_limits<Nanoseconds>::max();
  if (event.duration > kLargest - std::max(event.begin, durations_)) {
    throw InputError(recording_.file, event_pointer() + "/dur",
                     "the event ends, or all durations sum up, beyond 2^63 ns");
  }
  durations_ += event.duration;
  if (event.category == KinetoCategory::launch && event.correlation < 0) {
    return; // starts nothing on the device
  }
  event.name = name_number();
  event.thread = thread_number();
  if (event.category == KinetoCategory::cpu_operator) {
    add_detail(event);
  }
  recording_.events.push_back(event);
}

void KinetoSax::finish() const {
  if (!found_events_) {
    throw InputError(recording_.file, "", "no traceEvents: not a PyTorch profiler trace");
  }
}

// nlohmann: "[json.exception.parse_error.101] parse error at line 3, column 7: syntax error while
// parsing value - unexpected end of input; expected ..." becomes "3:7", "unexpected end of input".
void KinetoSax::syntax_error(std::string_view text) const {
  const auto after = [&](std::string_view mark) {
    const std::size_t at = text.find(mark);
    return at == std::string_view::npos ? std::string_view() : text.substr(at + mark.size());
  };
  const auto digits = [](std::string_view rest) {
    return std::string(rest.substr(0, rest.find_first_not_of("0123456789")));
  };
  const std::string line = digits(after("at line "));
  const std::string column = digits(after(", column "));
  std::string_view message = after(" - ");
  if (message.empty()) {
    message = after("] ");
  }
  message = message.substr(0, message.find("; "));
  throw InputError(recording_.file, line.empty() ? "" : line + ":" + column,
                   message.empty() ? std::string(text) : std::string(message));
}

} // namespace stepsim::io
