#pragma once
// The flags of `stepsim import` as they were typed, and what those of Kineto traces mean.
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/import_topology.hpp"
#include "cli/commands/imported.hpp"
#include "import/kineto/kineto_options.hpp"

namespace stepsim::cli {

struct ImportFlags { // as typed
  std::string format;
  std::string name; // of the result, from -o; empty: from the first input
  std::vector<std::string> files;
  std::string max_bytes = "8GiB", attribution, licence;
  std::string batch_size, skip_steps, step_annotation, model, time, measured_step, backward_ratio;
  std::string sizes, sizes_order, ddp_log, flight_record, pytorch_et, parameters, dtype,
      variability, cost;
  std::string op, ranks, value, column, tick;
  TopologyFlags topology;
  bool allow_unknown_sizes = false, drop_other_communication = false, keep_layers = false;
};

// Throws UsageError for a flag that was typed and that `format` does not read.
void refuse_foreign_flags(const ImportFlags& flags, std::string_view format);

// What every importer takes: limits, credit, and who made the file.
[[nodiscard]] io::ImportOptions common_options(const ImportFlags& flags);

// Absent flags keep the defaults of the importer. Throws UsageError for a value that is none.
[[nodiscard]] io::KinetoOptions kineto_options(const ImportFlags& flags);

// The word of an element type, from the flag --dtype. Throws UsageError for an unknown one.
[[nodiscard]] std::string dtype_flag(const std::string& text);

// The trace, and the files of --variability and --cost. Throws InputError with what would help
// where gradient sizes are unknown, unless they may be.
[[nodiscard]] Imported imported_kineto(const ImportFlags& flags, const io::KinetoOptions& options);

} // namespace stepsim::cli
