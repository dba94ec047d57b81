// Traces may have gigabytes: they are read as a stream of parser events, of which only the members
// that later stages need are kept. `depth_` and the last key tell where in the tree an event
// stands.
#include "import/kineto/kineto_sax.hpp"

#include <limits>

#include "base/error.hpp"

namespace stepsim::io {

namespace {

constexpr std::size_t kMaxDepth = 256;

} // namespace

// Structure

void KinetoSax::count_element() {
  if (in_events_ && depth_ + 1 == event_depth_) {
    ++event_index_;
  }
}

// An object or an array begins.
void KinetoSax::open() {
  ++values_;
  count_element();
  if (++depth_ > kMaxDepth) {
    throw InputError(recording_.file, in_events_ ? event_pointer() : "",
                     "nested deeper than " + std::to_string(kMaxDepth));
  }
}

bool KinetoSax::start_object(std::size_t) {
  if (RawTime* time = time_field()) {
    time->set_bad("an object");
  }
  open();
  if (in_event()) {
    raw_.clear();
    types_.clear();
    in_args_ = false;
  } else if (in_events_ && depth_ == event_depth_ + 1 && key_ == KinetoKey::args) {
    in_args_ = true;
  } else if (depth_ == 2 && !in_events_ && key_ == KinetoKey::distributed_info) {
    in_distributed_ = true;
  }
  return true;
}

void KinetoSax::add(const RawEvent& event) {
  ++values_;
  ++event_index_;
  collector_.add(event, [this] { return event_pointer(); });
}

// A trace is an object with "traceEvents", or the bare list of events.
bool KinetoSax::start_array(std::size_t) {
  if (RawTime* time = time_field()) {
    time->set_bad("an array");
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
  } else if (in_shapes(0)) {
    raw_.has_shapes = true;
  } else if (in_shapes(1)) {
    shape_ = raw_.add_shape();
  } else if (in_shapes(2) && shape_ != nullptr) {
    shape_->begin_listed();
  }
  return true;
}

// The end of an event hands it to the collector; its keys may come in any order.
bool KinetoSax::end_object() {
  if (in_event()) {
    collector_.add(raw_, [this] { return event_pointer(); });
    behind_event_ = true;
  }
  return close();
}

// A list among the events is none.
bool KinetoSax::close() {
  if (in_args()) {
    in_args_ = false;
  } else if (in_shapes(1)) {
    shape_ = nullptr;
  } else if (in_shapes(2) && shape_ != nullptr) {
    shape_->end_listed();
  } else if (in_events_ && depth_ + 1 == event_depth_) {
    in_events_ = false;
  }
  --depth_;
  if (depth_ == 1) {
    in_devices_ = in_distributed_ = false;
  }
  return true;
}

// A key means something only at its level: "name" of an event is not "name" in its arguments.
bool KinetoSax::key(std::string_view name) {
  key_ = KinetoKey::other;
  if (in_args()) {
    key_ = argument_key(name);
  } else if (in_event()) {
    key_ = event_key(name);
  } else if (depth_ == 1) {
    key_ = file_key(name);
  } else if (in_devices_ && depth_ == 3 && name == "name") {
    key_ = KinetoKey::name;
  } else if (in_distributed_ && depth_ == 2) {
    key_ = name == "world_size" ? KinetoKey::world_size
           : name == "rank"     ? KinetoKey::rank
                                : KinetoKey::other;
  }
  return true;
}

// Values

// The time that the current key names; null elsewhere.
RawTime* KinetoSax::time_field() {
  if (!in_event()) {
    return nullptr;
  }
  return key_ == KinetoKey::ts ? &raw_.ts : key_ == KinetoKey::dur ? &raw_.dur : nullptr;
}

// A value that no field takes; a time that is no number is remembered for its error.
bool KinetoSax::scalar(std::string_view shown) {
  ++values_;
  count_element();
  if (RawTime* time = time_field()) {
    time->set_bad(shown);
  } else if (in_shapes(0)) {
    (void)raw_.add_shape();
  }
  return true;
}

// Times are taken from their digits: a double of microseconds since 1970 has lost the nanoseconds.
bool KinetoSax::number_float(double, const std::string& literal) {
  ++values_;
  count_element();
  if (RawTime* time = time_field()) {
    time->set(literal);
  }
  return true;
}

// Beyond 2^63 only a time can tell what is wrong with it, by its digits.
bool KinetoSax::number_unsigned(std::uint64_t value) {
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return number_float(0, std::to_string(value));
  }
  return number_integer(static_cast<std::int64_t>(value));
}

bool KinetoSax::number_integer(std::int64_t value) {
  ++values_;
  count_element();
  if (RawTime* time = time_field()) {
    time->set_integer(value);
  } else if (in_event() && (key_ == KinetoKey::pid || key_ == KinetoKey::tid)) {
    (key_ == KinetoKey::pid ? raw_.pid : raw_.tid) = keep(std::to_string(value));
  } else if (in_args()) {
    set_argument(value);
  } else if (in_shapes(1) && shape_ != nullptr) {
    shape_->add_dimension(value);
  } else if (in_shapes(2) && shape_ != nullptr) {
    shape_->add_listed_dimension(value);
  } else if (in_shapes(0)) {
    (void)raw_.add_shape(); // no tensor, but it counts as an input
  } else {
    set_job(value);
  }
  return true;
}

// What the file says about its job and its recording.
void KinetoSax::set_job(std::int64_t value) {
  if (in_distributed_ && depth_ == 2 && key_ == KinetoKey::world_size && value >= 1) {
    recording_.world_size = value;
  } else if (in_distributed_ && depth_ == 2 && key_ == KinetoKey::rank && value >= 0) {
    recording_.rank = value;
  } else if (at_top() && key_ == KinetoKey::record_shapes) {
    recording_.record_shapes = value != 0;
  }
}

// Numbers in "args" that tie events to each other, or say how much a collective carries.
void KinetoSax::set_argument(std::int64_t value) {
  if (key_ == KinetoKey::correlation) {
    raw_.event.correlation = value;
  } else if (key_ == KinetoKey::external_id) {
    raw_.event.external_id = value;
  } else if (key_ == KinetoKey::sequence) {
    raw_.event.sequence = value;
  } else if (key_ == KinetoKey::elements) {
    raw_.elements = value;
  } else if (key_ == KinetoKey::out_elements) {
    raw_.out_elements = value;
  } else if (key_ == KinetoKey::group_size) {
    raw_.group_size = value;
  }
}

// The text that the current key names; null for all others, whose values are dropped.
std::string_view* KinetoSax::text_field() {
  if (in_event()) {
    return key_ == KinetoKey::cat    ? &raw_.category
           : key_ == KinetoKey::name ? &raw_.name
           : key_ == KinetoKey::pid  ? &raw_.pid
           : key_ == KinetoKey::tid  ? &raw_.tid
                                     : nullptr;
  }
  if (in_args()) {
    return key_ == KinetoKey::collective ? &raw_.collective
           : key_ == KinetoKey::dtype    ? &raw_.dtype
           : key_ == KinetoKey::group    ? &raw_.group
                                         : nullptr;
  }
  return nullptr;
}

bool KinetoSax::string(std::string& value) {
  ++values_;
  count_element();
  if (std::string_view* text = text_field()) {
    *text = keep(std::move(value)); // the parser does not need it any more
  } else if (RawTime* time = time_field()) {
    time->set_bad('"' + value + '"');
  } else if (in_args_ && key_ == KinetoKey::input_type && depth_ == event_depth_ + 2) {
    if (raw_.wants_type()) {
      raw_.add_type(types_.emplace_back(std::move(value)));
    }
  } else if (in_event() && key_ == KinetoKey::ph) {
    raw_.complete = value == "X";
  } else if (in_devices_ && key_ == KinetoKey::name && !recording_.device) {
    recording_.device = value;
  }
  return true;
}

std::string KinetoSax::event_pointer() const {
  return (bare_array_ ? "/" : "/traceEvents/") + std::to_string(event_index_);
}

void KinetoSax::finish() {
  collector_.finish();
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
  std::string line = digits(after("at line "));
  std::string column = digits(after(", column "));
  if (!line.empty() && !column.empty()) {
    const std::int64_t seen = std::stoll(line);
    const std::int64_t before = std::stoll(column); // 0 behind a line break that was read twice
    column = std::to_string(before + (seen == hidden_.line && before > 0 ? hidden_.columns : 0));
    line = std::to_string(seen + hidden_.lines);
  }
  std::string_view message = after(" - ");
  if (message.empty()) {
    message = after("] ");
  }
  message = message.substr(0, message.find("; "));
  throw InputError(recording_.file, line.empty() ? "" : line + ":" + column,
                   message.empty() ? std::string(text) : std::string(message));
}

} // namespace stepsim::io
