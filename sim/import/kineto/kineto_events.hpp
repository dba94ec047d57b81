#pragma once
// The part of a profiler trace that the importer looks at (IO 4.1), as compact values: one record
// of 56 bytes per event, names stored once. Times are integer nanoseconds, threads are (pid, tid)
// pairs numbered from 0. The order of `events` is that of the file and means nothing.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "import/kineto/kineto_time.hpp"

namespace stepsim::io {

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
};

// One input of an operator, where shapes were recorded.
struct KinetoTensor {
  std::vector<std::int64_t> shape{};
  std::int64_t elements{}; // 0: no usable shape
  std::string dtype{};     // "float", "c10::Half", ...; empty = not recorded, or no tensor
};

// Inputs of gradient nodes and of operators with parameters, in the operator's order.
using KinetoInputs = std::vector<KinetoTensor>;

struct KinetoRecording {
  std::string file; // as given, for messages
  std::vector<KinetoEvent> events;
  std::vector<std::string> names;
  std::vector<KinetoCollective> collectives;
  std::vector<KinetoInputs> inputs;
  std::optional<std::string> device;      // name of the GPU; empty = not in the file
  std::optional<std::int64_t> world_size; // ranks of the job; empty = not in the file
  std::optional<std::int64_t> rank;       // in the job; empty = not in the file
  bool record_shapes = false;             // what the file says of its own recording

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

} // namespace stepsim::io
