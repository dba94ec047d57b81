#pragma once
// The table of knobs of `stepsim tune`: one row per knob, in the order of the enumerators. A knob
// is one key of a scenario, which only some schedules, collectives or training algorithms read.
#include <span>
#include <string_view>

namespace stepsim::study {

enum class Knob {
  bucket_bytes,
  fusion_bytes,
  cycle_s,
  partition_bytes,
  credit_bytes,
  block_bytes,
  pipeline_width,
  density,
  collective,
  schedule,
};

struct KnobRow {
  Knob knob;
  std::string_view name;
  std::string_view pointer; // JSON pointer of the key in a scenario
  std::string_view summary; // one line of help
};

// All rows, in the order in which help prints them.
[[nodiscard]] std::span<const KnobRow> knobs();
[[nodiscard]] const KnobRow& row(Knob knob);
// The knob of this name. Throws UsageError, with the nearest name, if it is unknown.
[[nodiscard]] Knob parse_knob(std::string_view name);

} // namespace stepsim::study
