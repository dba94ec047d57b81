#pragma once
// One event of a profiler trace as it was read, and the collector that checks it and adds it to a
// recording. Checks happen when the event is complete, because its keys come in any order and only
// some categories matter.
#include <deque>
#include <map>
#include <unordered_map>

#include "import/kineto/kineto_events.hpp"

namespace stepsim::io {

// A time as it stood in the file. A missing or bad one is an error only if its event is kept.
struct RawTime {
  std::optional<Nanoseconds> value;
  std::string shown; // the text of a bad time; "" = there was none

  void set(std::string_view literal); // decimal microseconds
  void set_bad(std::string_view text) { *this = {std::nullopt, std::string(text)}; }
};

// One entry of "Input Dims": [64, 3, 7, 7], or [[10], [20, 2]] for a list of tensors.
struct RawShape {
  std::vector<std::int64_t> dims; // dimensions of a tensor; unused for a list
  // Product of the dimensions, or sum over the tensors of a list. -1: no dimension was read, as for
  // a scalar; 0: no usable shape.
  std::int64_t elements = -1;
  std::int64_t listed = -1; // product of the dimensions so far of the list's current tensor
  bool list = false;

  void clear();
  void add_dimension(std::int64_t size);
  void begin_listed() { list = true, listed = 1; }
  void add_listed_dimension(std::int64_t size);
  void end_listed();
};

// The members of one event that any category needs. Texts are parts of a text that is there until
// the event is added, or of `decoded`.
struct RawEvent {
  bool complete = false; // ph is X
  KinetoEvent event;     // correlation, external id, sequence
  RawTime ts, dur;
  std::string_view category, name, pid, tid, collective, dtype, group;
  std::int64_t elements = -1;     // "In msg nelems"
  std::int64_t out_elements = -1; // "Out msg nelems"
  std::int64_t group_size = -1;
  // The first entries (at most 8) of "Input Dims" and of "Input type".
  std::vector<RawShape> shapes;
  std::vector<std::string_view> types;
  std::size_t shape_count{};       // used entries of `shapes`
  bool has_shapes = false;         // the key was there
  std::deque<std::string> decoded; // texts that are not written as they are read

  void clear(); // keeps the memory of the lists
  RawShape* add_shape();
  [[nodiscard]] bool wants_type() const; // false behind the last entry that is kept
  // The inputs as tensors. If types were recorded, the last inputs are left out that have neither a
  // size nor a type.
  [[nodiscard]] KinetoInputs inputs() const;
};

// Adds events to a recording, which outlives it. Events that are not complete, of other categories,
// and launches without a correlation are dropped.
class KinetoCollector {
public:
  // `pointer` gives the place of the event that is added ("/traceEvents/17"), for errors.
  KinetoCollector(KinetoRecording& recording, std::function<std::string()> pointer)
      : recording_(recording), pointer_(std::move(pointer)) {}
  // Throws InputError for an event of a category that is kept whose times are missing or bad.
  void add(const RawEvent& raw);

  // Ends the recording; call it after the last event.
  void finish();

private:
  [[noreturn]] void refuse(const char* key, const std::string& message) const;
  [[nodiscard]] Nanoseconds time_of(const RawTime& time, const char* key) const;
  // Texts are looked up without a copy of them.
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  // What the name of an event says about it.
  struct Meaning {
    bool marks_range = false; // an operator of this name is an annotation
    bool call = false;        // of a collective
    bool with_inputs = false; // some inputs are parameters or gradients
  };
  std::int32_t name_number(std::string_view name);
  std::int32_t thread_number(const RawEvent& raw);
  std::int32_t detail_number(const RawEvent& raw, const Meaning& meaning, KinetoCategory category);

  void move_events_to_file();

  KinetoRecording& recording_;
  std::function<std::string()> pointer_;
  Nanoseconds durations_{}; // sum over all events kept
  std::unordered_map<std::string, std::int32_t, TextHash, std::equal_to<>> names_, threads_;
  std::vector<Meaning> meanings_; // [name]
  // Positions in the lists of the recording, which hold each value once.
  std::map<KinetoCollective, std::int32_t> collectives_;
  std::map<KinetoInputs, std::int32_t> inputs_;
  struct Thread {
    std::string process, track;
    std::int32_t number = -1; // -1: none yet
  };
  std::array<Thread, 4> recent_; // threads of the last events
  std::size_t oldest_{};
  std::string thread_key_;
};

} // namespace stepsim::io
