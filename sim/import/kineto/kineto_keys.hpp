#pragma once
// Keys of a profiler trace that mean something on their level; everything else is `other`.
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

// The key with this name in the object of the file, in an event, and in the arguments of an event.
[[nodiscard]] KinetoKey file_key(std::string_view name);
[[nodiscard]] KinetoKey event_key(std::string_view name);
[[nodiscard]] KinetoKey argument_key(std::string_view name);

} // namespace stepsim::io
