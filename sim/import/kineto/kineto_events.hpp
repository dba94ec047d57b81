#pragma once
// One event of a profiler trace, 56 bytes, and a temporary file of many.
#include <cstdio>
#include <functional>
#include <memory>

#include "layers/trace.hpp"

namespace stepsim::io {

// Reads profiler times, decimal microseconds of any number of digits. Those of today have 16 digits
// before the point ("1712195495523352.380"). A double rounds them to 0.25 us, which breaks the
// nesting of operators, so the text is converted to signed 64-bit nanoseconds:  "12.345" -> 12345,
// "2.5e3" -> 2500000,  "0.0004" -> 0 (nearest).
using Nanoseconds = std::int64_t;

// A JSON number in microseconds as nanoseconds, rounded to the nearest; empty if it is not a
// number, negative, or beyond 2^63 ns.
[[nodiscard]] std::optional<Nanoseconds> nanoseconds_from_microseconds(std::string_view literal);

// The median, exact also where a double is not; of an even number of times the mean of the middle
// two, rounded towards the lower one. Needs at least one time.
[[nodiscard]] Nanoseconds median_time(std::vector<Nanoseconds> times);

// module: a Python call of an nn.Module, which only names layers.
enum class KinetoCategory : std::uint8_t {
  annotation,
  cpu_operator,
  launch,
  kernel,
  copy,
  fill,
  module
};

[[nodiscard]] constexpr bool on_device(KinetoCategory category) {
  return category == KinetoCategory::kernel || category == KinetoCategory::copy ||
         category == KinetoCategory::fill;
}

struct KinetoEvent {
  static constexpr std::int64_t kNone = -1;

  Nanoseconds begin{};
  Nanoseconds duration{};
  std::int64_t correlation = kNone; // joins a launch and its work on the device
  std::int64_t external_id = kNone; // joins a collective and its kernel
  std::int64_t sequence = kNone;    // joins a forward operator and its backward node
  std::int32_t thread{};
  std::int32_t name{};         // index into names
  std::int32_t detail = kNone; // index into collectives or inputs
  KinetoCategory category = KinetoCategory::annotation;

  [[nodiscard]] Nanoseconds end() const { return begin + duration; }
};

// The events of a recording in a temporary file, which the destructor deletes, because traces of
// gigabytes do not fit into memory. Events are read in the order in which they were appended. The
// constructor, append() and each() throw SimulationError if the file cannot be made, written or
// read.
class KinetoEventFile {
public:
  KinetoEventFile();
  void append(const KinetoEvent& event) {
    last_.push_back(event);
    ++size_;
    if (last_.size() == kTogether) {
      write();
    }
  }
  // Calls `visit` for every event, from the first; append() may follow.
  void each(const std::function<void(const KinetoEvent&)>& visit);
  [[nodiscard]] std::size_t size() const { return size_; }

private:
  static constexpr std::size_t kTogether = 1024; // events that are written and read at a time
  void write();
  struct Close {
    void operator()(std::FILE* file) const { (void)std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
  std::vector<KinetoEvent> last_; // not in the file yet
  std::size_t size_{};
};

// The part of a profiler trace that the importer looks at (IO 4.1), as compact values: one record
// of 56 bytes per event, names stored once. Times are integer nanoseconds, threads are (pid, tid)
// pairs numbered from 0. The order of `events` is that of the file and means nothing.

// What an event says about a collective: the arguments of `record_param_comms` and of kernels, and
// the first input of a call. Numbers are -1 and texts empty where they were not recorded.
struct KinetoCollective {
  std::string op;    // "allreduce", "broadcast", "wait", ...
  std::string dtype; // "Float", "Half", ...
  std::int64_t elements = -1;
  std::int64_t out_elements = -1;
  std::int64_t group_size = -1;
  std::string group; // name of the process group
  std::int64_t input_elements = -1;
  std::string input_dtype; // "float", "c10::Half", ...
  [[nodiscard]] auto operator<=>(const KinetoCollective&) const = default;
};

// One input of an operator, where shapes were recorded.
struct KinetoTensor {
  std::vector<std::int64_t> shape{};
  std::int64_t elements{}; // 0: no usable shape
  std::string dtype{};     // "float", "c10::Half", ...; empty = not recorded, or no tensor
  [[nodiscard]] auto operator<=>(const KinetoTensor&) const = default;
};

// The inputs of an operator in its order. Only gradient nodes and operators with parameters keep
// them.
using KinetoInputs = std::vector<KinetoTensor>;

struct KinetoRecording {
  std::string file; // path or "<stdin>", for error messages
  // All events, and `more` is null. If they are more than `most_events`, which is about the number
  // that may be in memory at a time, `events` is empty and `more` has them (kineto_windows.hpp).
  std::vector<KinetoEvent> events;
  std::unique_ptr<KinetoEventFile> more;
  std::size_t most_events{};
  std::vector<std::string> names;
  std::vector<std::string> processes; // of each thread, as written
  std::vector<KinetoCollective> collectives;
  std::vector<KinetoInputs> inputs;
  std::optional<std::string> device;      // name of the GPU; empty = not in the file
  std::optional<std::int64_t> world_size; // ranks of the job; empty = not in the file
  std::optional<std::int64_t> rank;       // number of the rank; empty = not in the file
  bool record_shapes = false;             // whether shapes were recorded, by the file's own word

  [[nodiscard]] const KinetoEvent& event(std::int32_t index) const {
    return events[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] std::string_view name(const KinetoEvent& event) const {
    return names[static_cast<std::size_t>(event.name)];
  }
};

// The positions of the parameters among the inputs of an operator of PyTorch, in the order in which
// modules register them: {1, 2} for "aten::conv2d". Empty for operators that have none.
[[nodiscard]] std::span<const int> parameter_inputs(std::string_view operation);

// Our word for a type name of PyTorch ("Float", "float", "c10::Half", ...) and its size; empty for
// other names.
struct DtypeWord {
  std::string_view word; // "float32"
  std::int64_t bytes{};
};
[[nodiscard]] std::optional<DtypeWord> dtype_of_pytorch(std::string_view name);

// Sets the shortest, median and longest of the times, of which one second has `per_second`; nothing
// without times.
void set_times(layers::MeasuredBucket& bucket, const std::vector<double>& times, double per_second);

// A tensor of this many elements and their type.
[[nodiscard]] layers::Tensor tensor_of(std::int64_t elements, const DtypeWord& type);

// The training steps of a profiler recording (IO 4.2): half-open intervals [begin, end) of host
// time, in the order of their begin; `thread` is the thread of the forward pass.
//   with a regular expression   the annotations of which some part matches it, the innermost of
//                               nested ones
//   without                     the ProfilerStep#N annotations; if there are none, the intervals
//                               between the ends of successive Optimizer.step# annotations
// If a job updates its weights once in several ProfilerStep#N, all of them up to the update are one
// step, and those after the last update are left out (INP 1.3, rule 8).
struct KinetoStep {
  std::string name;
  Nanoseconds begin{};
  Nanoseconds end{};
  std::int32_t thread{};
};

// Throws InputError if no step is found, with the annotations of the file, or if steps are of
// several processes, which are several ranks, and UsageError for a wrong regular expression.
[[nodiscard]] std::vector<KinetoStep> find_steps(const KinetoRecording& recording,
                                                 const std::optional<std::string>& annotation);

// The index of the last step that begins at or before `moment`; -1 if there is none, or if that
// step has ended by then, even if an earlier step has not.
[[nodiscard]] std::int32_t step_at(std::span<const KinetoStep> steps, Nanoseconds moment);

} // namespace stepsim::io
