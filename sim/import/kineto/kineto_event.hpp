#pragma once
// One event of a profiler trace, 56 bytes.
#include <cstdint>

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

} // namespace stepsim::io
