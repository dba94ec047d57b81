#pragma once
// The keys of a profiler trace that the importer reads; all others are `other`. A key counts only
// on its own level: a `name` among the arguments of an event is `other`.
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stepsim::io {

enum class KinetoKey : std::uint8_t {
  other,
  trace_events,
  device_properties,
  distributed_info,
  record_shapes,
  world_size,
  rank,
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
  out_elements,
  group,
  group_size,
  dtype
};
inline constexpr std::size_t kKinetoKeys = static_cast<std::size_t>(KinetoKey::dtype) + 1;

// Return the key with this name in the object of the file, in an event, and in the arguments of an
// event.
[[nodiscard]] KinetoKey file_key(std::string_view name);
[[nodiscard]] KinetoKey event_key(std::string_view name);
[[nodiscard]] KinetoKey argument_key(std::string_view name);

} // namespace stepsim::io
