#pragma once
// `stepsim import`: its flags, and its result, which is the file to write, the summary to print,
// and warnings.

#include "cli/shell/app.hpp"
#include "import/import_osu.hpp"
#include "import/kineto/import_kineto.hpp"
#include "import/nccl/import_nccl_topology.hpp"
#include "scenario/files.hpp"

namespace stepsim::cli {

struct Imported {
  io::Json tree;
  std::string summary;
  std::vector<std::string> warnings;
  std::string last_line{}; // printed after the warnings
  std::string csv{};       // samples as CSV; "" = the result is no table
};

// One line with the number of devices of each kind that the machine has: "m: 8 GPUs, 8 network
// interfaces, 4 CPUs, 4 PCIe bridges, 20 PCIe links".
[[nodiscard]] std::string topology_summary(const io::NcclTopology& imported);

// The flags of `stepsim import` as typed; "" = not given.
struct ImportFlags {
  std::string format;
  std::string name; // name of the result, from -o; "" = taken from the first input
  std::vector<std::string> files;
  std::string max_bytes = "8GiB", attribution, licence;
  std::string batch_size, skip_steps, step_annotation, model, time, measured_step, backward_ratio;
  std::string sizes, sizes_order, ddp_log, flight_record, pytorch_et, parameters, dtype,
      variability, cost;
  std::string op, ranks, value, column, tick;
  std::string gpus, pcie_efficiency, pcie_default, latency; // nccl-topology
  bool allow_unknown_sizes = false, drop_other_communication = false, keep_layers = false;
};

// The options that every importer has: the limit of the size, credit, and the program. Throws
// UsageError for a limit that cannot be parsed.
[[nodiscard]] io::ImportOptions common_options(const ImportFlags& flags);

// The value of --ranks; nothing if it was not typed.
[[nodiscard]] std::optional<std::int64_t> ranks_of(const ImportFlags& flags);

// The options of the importer of topologies. Throws UsageError: `--latency pci=1us: unknown kind of
// link "pci"; did you mean "pcie"?`.
[[nodiscard]] io::NcclTopologyOptions topology_options(const ImportFlags& flags);

// The element type of the flag --dtype. Throws UsageError if it is unknown.
[[nodiscard]] std::string dtype_flag(const std::string& text);

// All shipped layer tables, and that of --model FILE, which is then called by its name. Importers
// look for the one whose layers fit the measured ones, which gives gradient sizes to traces without
// shapes.
[[nodiscard]] std::vector<layers::ModelTable> known_models(ImportFlags& flags, study::Files& files);
// The job of the profiler's files. Throws InputError, with a remedy, if gradient sizes are unknown,
// unless the flags allow unknown sizes.
[[nodiscard]] io::KinetoImport kineto_job(ImportFlags& flags, study::Files& files,
                                          const Common& common);
// Imports the trace and writes the files of --variability and --cost. Throws as kineto_job() does.
[[nodiscard]] Imported imported_kineto(ImportFlags& flags, study::Files& files,
                                       const Common& common);

// A trace. If none of its gradients has a size, which only --allow-unknown-sizes permits, there is
// a warning that `run` refuses the trace.
[[nodiscard]] Imported imported_trace(const layers::Trace& trace);
// A model table. The summary has the number of parameters and what was left out.
[[nodiscard]] Imported imported_model(const layers::ModelTable& table);
// Points of one operation, as a file of kind cost.
[[nodiscard]] Imported imported_cost(const io::OsuLog& log);
// Sets of repeated times, for `stepsim-calibrate fit`.
[[nodiscard]] Imported imported_samples(const io::Samples& samples);

// Imports a trace, or samples if `target` ends in .samples.json
// or .samples.csv. Throws InputError, with a remedy,
// if no gradient has a size, unless the flags allow unknown sizes.
[[nodiscard]] Imported imported_chakra(const std::string& file, const ImportFlags& flags,
                                       const std::string& target);
// Throws InputError, among others, if no layer reduces a gradient, unless the flags drop other
// communication or allow unknown sizes. The trace then has only times; what was dropped is in a
// warning.
[[nodiscard]] Imported imported_astra_text(const std::string& file, const ImportFlags& flags);

// Throws InputError with the remedy, unless that is empty, and if no layer of the trace has a
// gradient that travels.
void require_gradients(const layers::Trace& trace, const std::string& file,
                       const std::string& remedy = "");
// Throws InputError that names the right format or gives advice, because an importer would only say
// what its own format lacks:
//   - a Kineto, Chakra, PyTorch execution or ASTRA-sim trace given to another importer;
//   - a file that is not JSON given to the Kineto importer;
//   - a file that is recognised, but of a format that no importer reads.
// In all other cases, and for standard input, the importer itself reports the error.
void refuse_other_format(const std::string& file, std::string_view format);

// Gives the progress line an estimate of the duration, for files that are read as a whole.
void expect_reading(const std::vector<std::string>& files, const Common& common);
// Returns a function that updates the progress in MB, for files that are read piece by piece. The
// reader calls it with the number of bytes of all files read so far. Empty if all files together
// have less than 1 MB or a size is not known.
[[nodiscard]] std::function<void(std::uint64_t bytes)>
counting_bytes(const std::vector<std::string>& files, const Common& common);

} // namespace stepsim::cli
