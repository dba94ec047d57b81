#pragma once
// The flags of `stepsim import` as they were typed, and their values as options of importers.
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/import_topology.hpp"
#include "cli/commands/imported.hpp"
#include "import/kineto/kineto_options.hpp"

namespace stepsim::cli {

struct ImportFlags { // as typed
  std::string format;
  std::string name; // name of the result, from -o; "" = taken from the first input
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

// The options that every importer has: the limit of the size, credit, and the program. Throws
// UsageError for a limit that cannot be parsed.
[[nodiscard]] io::ImportOptions common_options(const ImportFlags& flags);

// The options of the Kineto importer. Flags that were not given keep the defaults of the importer.
// Throws UsageError for a value that cannot be parsed, and for flags that exclude or need another.
[[nodiscard]] io::KinetoOptions kineto_options(const ImportFlags& flags);

// The element type of the flag --dtype. Throws UsageError if it is unknown.
[[nodiscard]] std::string dtype_flag(const std::string& text);

// Imports the trace and writes the files of --variability and --cost. Throws InputError, with a
// remedy, if gradient sizes are unknown, unless the flags allow unknown sizes.
[[nodiscard]] Imported imported_kineto(const ImportFlags& flags, const io::KinetoOptions& options);

} // namespace stepsim::cli
