#pragma once
// The part of a profiler trace that the importer looks at (IO 4.1), as compact values: one record
// of 56 bytes per event, names stored once. Times are integer nanoseconds, threads are (pid, tid)
// pairs numbered from 0. The order of `events` is that of the file and means nothing.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/kineto/kineto_time.hpp"

namespace stepsim::io {

enum class KinetoCategory : std::uint8_t { annotation, cpu_operator, launch, kernel, copy, fill };

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
  std::int32_t name{};   // index into names
  std::int32_t detail{}; // index into collectives or gradients, kNone = none
  KinetoCategory category = KinetoCategory::annotation;

  [[nodiscard]] Nanoseconds end() const { return begin + duration; }
};

// Arguments of `record_param_comms`.
struct KinetoCollective {
  std::string op;          // "allreduce", "broadcast", "wait", ...
  std::string dtype;       // "Float", "Half", ...
  std::int64_t elements{}; // -1 = not recorded
};

// Input of `torch::autograd::AccumulateGrad`, where shapes were recorded.
struct KinetoGradient {
  std::int64_t elements{};
  std::string dtype; // "float", "c10::Half", ...
};

struct KinetoRecording {
  std::string file; // as given, for messages
  std::vector<KinetoEvent> events;
  std::vector<std::string> names;
  std::vector<KinetoCollective> collectives;
  std::vector<KinetoGradient> gradients;
  std::optional<std::string> device;      // name of the GPU; empty = not in the file
  std::optional<std::int64_t> world_size; // ranks of the job; empty = not in the file

  [[nodiscard]] std::string_view name(const KinetoEvent& event) const {
    return names[static_cast<std::size_t>(event.name)];
  }
};

// Our word for a type name of PyTorch ("Float", "float", "c10::Half", ...) and its size; empty for
// other names.
struct DtypeWord {
  std::string_view word; // "float32"
  std::int64_t bytes{};
};
[[nodiscard]] std::optional<DtypeWord> dtype_of_pytorch(std::string_view name);

} // namespace stepsim::io
