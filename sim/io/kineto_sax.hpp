#pragma once
// The parser events of a profiler trace, gathered into a KinetoRecording. Levels: file > array of
// events > event > args > arrays in args; `depth` counts open objects and arrays. An event is
// judged when its object closes, because its keys come in any order.
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "io/kineto_events.hpp"

namespace stepsim::io {

// Keys that mean something on their level; everything else is `other`.
enum class KinetoKey : std::uint8_t {
  other,
  trace_events,
  device_properties,
  distributed_info,
  world_size,
  ph,
  cat,
  name,
  pid,
  tid,
  ts,
  dur,
  args,
  correlation,
  external_id,
  sequence,
  input_dims,
  input_type,
  collective,
  elements,
  dtype
};

class KinetoSax {
public:
  explicit KinetoSax(KinetoRecording& recording) : recording_(recording) {}

  // The interface that nlohmann's parser calls.
  bool null() { return scalar("null"); }
  bool boolean(bool value) { return scalar(value ? "true" : "false"); }
  bool number_integer(std::int64_t value); // negative
  bool number_unsigned(std::uint64_t value);
  bool number_float(double, const std::string& literal);
  bool string(std::string& value);
  template <class Binary> bool binary(Binary&) { return true; }
  bool start_object(std::size_t);
  bool key(std::string& name);
  bool end_object() { return close(); }
  bool start_array(std::size_t);
  bool end_array() { return close(); }
  template <class Exception>
  bool parse_error(std::size_t, const std::string&, const Exception& error) {
    syntax_error(error.what());
    return false;
  }

  // Throws unless the file held an array of events.
  void finish() const;
  // How many values were read so far: tells whether the parser makes progress.
  [[nodiscard]] std::uint64_t values() const { return values_; }

private:
  struct Time {
    enum class State : std::uint8_t { missing, good, bad } state = State::missing;
    Nanoseconds value{};
    std::string shown; // what was read, when bad
  };
  enum class Shape : std::uint8_t { missing, open, done };
  struct Fields {          // of the event being read
    bool complete = false; // ph is X
    Shape shape = Shape::missing;
    KinetoEvent event;
    Time ts, dur;
    std::string category, name, pid, tid, collective, dtype, input_type;
    std::int64_t elements{}, shape_elements{};
  };

  [[nodiscard]] bool in_event() const { return in_events_ && depth_ == event_depth_; }
  [[nodiscard]] bool in_args() const { return in_args_ && depth_ == event_depth_ + 1; }
  bool scalar(std::string_view shown);
  bool integer(std::int64_t value, std::string_view literal);
  void open();
  bool close();
  void set_time(Time& field, std::string_view literal);
  [[nodiscard]] Time* time_field();
  void count_element(); // before a value directly inside the array of events
  void clear_event();
  void finish_event();
  void add_detail(KinetoEvent& event);
  [[nodiscard]] Nanoseconds checked(const Time& field, std::string_view key) const;
  [[noreturn]] void syntax_error(std::string_view text) const;
  [[nodiscard]] std::string event_pointer() const;
  std::int32_t name_number();
  std::int32_t thread_number();

  KinetoRecording& recording_;
  Fields fields_;
  KinetoKey key_ = KinetoKey::other;
  std::size_t depth_{};
  std::size_t event_depth_{}; // depth inside an event object
  bool in_events_ = false;
  bool in_args_ = false;
  bool in_devices_ = false;
  bool in_distributed_ = false;
  bool found_events_ = false;
  bool bare_array_ = false;
  std::int64_t event_index_ = -1;
  std::uint64_t values_{};
  Nanoseconds durations_{}; // of the events kept
  std::unordered_map<std::string, std::int32_t> names_, threads_;
  std::string thread_key_;
};

} // namespace stepsim::io
