#pragma once
// The knobs that `tune` can turn: one row each, in the order of the enumerators. A knob is one key
// of a scenario, which only some schedules, collectives or training algorithms read.
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
  std::string_view pointer; // of the scenario
  std::string_view summary; // one line of help
};

// All rows, in the order of help.
[[nodiscard]] std::span<const KnobRow> knobs();
[[nodiscard]] const KnobRow& row(Knob knob);
// Throws UsageError, with the nearest, for an unknown name.
[[nodiscard]] Knob parse_knob(std::string_view name);

} // namespace stepsim::study
