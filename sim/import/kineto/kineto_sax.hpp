#pragma once
// The parser events of a profiler trace, gathered into a KinetoRecording. Levels: file > array of
// events > event > args > arrays in args; `depth` counts open objects and arrays.
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

#include "import/kineto/kineto_collect.hpp"
#include "import/kineto/kineto_keys.hpp"

namespace stepsim::io {

// Keeps a few flags and a depth instead of a tree, so that members that the importer does not read
// cost nothing but the parser's time.
class KinetoSax {
public:
  explicit KinetoSax(KinetoRecording& recording) : recording_(recording), collector_(recording) {}

  // The interface that nlohmann's parser calls.
  bool null() { return scalar("null"); }
  bool boolean(bool value) {
    recording_.record_shapes |= value && at_top() && key_ == KinetoKey::record_shapes;
    return scalar(value ? "true" : "false");
  }
  bool number_integer(std::int64_t value); // called for negative numbers only
  bool number_unsigned(std::uint64_t value);
  bool number_float(double, const std::string& literal);
  bool string(std::string& value);
  template <class Binary> bool binary(Binary&) { return true; }
  bool start_object(std::size_t);
  bool key(std::string_view name);
  bool end_object();
  bool start_array(std::size_t);
  bool end_array() { return close(); }
  template <class Exception>
  bool parse_error(std::size_t, const std::string&, const Exception& error) {
    syntax_error(error.what());
    return false;
  }

  // True once after every event that the parser has read. The caller may then read further events
  // itself and add them.
  [[nodiscard]] bool take_behind_event() { return std::exchange(behind_event_, false); }
  // Adds an event that the caller has read.
  void add(const RawEvent& event);
  // The text that the caller has read itself and the parser has not counted: its number of lines,
  // and the number of its columns in line `line` (from 1). It corrects the place in errors.
  struct Hidden {
    std::int64_t lines = 0, line = 0, columns = 0;
  };
  void set_hidden(const Hidden& hidden) { hidden_ = hidden; }

  // To be called at the end. Throws InputError unless the file held an array of events.
  void finish();
  // Number of values read so far, which shows whether the parser makes progress.
  [[nodiscard]] std::uint64_t values() const { return values_; }

private:
  [[nodiscard]] bool at_top() const { return depth_ == 1 && !in_events_; }
  [[nodiscard]] bool in_event() const { return in_events_ && depth_ == event_depth_; }
  [[nodiscard]] bool in_args() const { return in_args_ && depth_ == event_depth_ + 1; }
  // In "Input Dims" (level 0), in an entry of it (1), or in a tensor of an entry that is a list
  // (2).
  [[nodiscard]] bool in_shapes(std::size_t level) const {
    return in_args_ && depth_ == event_depth_ + 2 + level && key_ == KinetoKey::input_dims;
  }
  bool scalar(std::string_view shown);
  void open();
  bool close();
  // The field that the next value belongs to; null if it belongs to no field of this type.
  [[nodiscard]] RawTime* time_field();
  [[nodiscard]] std::string_view* text_field();
  void set_argument(std::int64_t value);
  void set_job(std::int64_t value);
  void count_element(); // before a value directly inside the array of events
  [[noreturn]] void syntax_error(std::string_view text) const;
  // "/traceEvents/17", for errors.
  [[nodiscard]] std::string event_pointer() const;

  KinetoRecording& recording_;
  KinetoCollector collector_;
  // The parser reuses its string, so the texts of the current event are kept here, one per key.
  std::string_view keep(std::string text) {
    return texts_[static_cast<std::size_t>(key_)] = std::move(text);
  }

  RawEvent raw_;
  std::array<std::string, kKinetoKeys> texts_; // [key]
  std::deque<std::string> types_;              // of the inputs
  RawShape* shape_ = nullptr;                  // the entry of "Input Dims" that is being read
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
  bool behind_event_ = false;
  Hidden hidden_;
};

} // namespace stepsim::io
