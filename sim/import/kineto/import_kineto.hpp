#pragma once
// Imports PyTorch profiler traces (Kineto) as a layer trace (IO 4). The stages are plain values:
//   file -> KinetoRecording -> steps, Attribution -> StepSample per step -> KinetoRank per file
//        -> Trace
// Compute times are medians over the steps that kineto_rank.hpp keeps, and then over ranks. For
// collectives the minimum is kept, because their kernels contain the wait for the peers; buckets
// also keep the median and the maximum.

#include "import/kineto/kineto_sizes.hpp"
#include "import/kineto/kineto_summary.hpp"

namespace stepsim::io {

// kernel: layer times are sums of kernel times. wall: they are scaled so that computing and exposed
// communication fill the wall time of the step; they then contain the gaps between kernels.
enum class TimeBasis { kernel, wall };

// An empty option means that the value of the file is used, or is unknown.
struct KinetoOptions {
  ImportOptions common;
  std::optional<std::int64_t> batch_size;     // samples per worker and iteration; not in the file
  std::int64_t skip_steps = 1;                // number of first steps to leave out, as warm-up
  std::optional<std::string> step_annotation; // regular expression for steps
  std::optional<std::string> model;           // name of the table with the gradient sizes
  TimeBasis time = TimeBasis::kernel;
  // Time of a step measured without the profiler. If given, TimeBasis::wall is used with this time.
  std::optional<Seconds> measured_step;
  std::optional<double> backward_ratio; // backward time / forward time, for forward-only traces
  ModelTables models = [] { return std::span<const layers::ModelTable>(); }; // to choose from
  // Further sources of gradient sizes (kineto_sizes.hpp): paths of files, and a total.
  std::optional<std::string> sizes;
  bool sizes_in_ready_order = false; // else in order of registration
  std::optional<std::string> ddp_log;
  std::optional<std::string> flight_record;
  std::optional<std::string> pytorch_et;
  std::optional<std::int64_t> parameters; // elements of all gradients
  std::optional<std::string> dtype;       // type of gradients if no event has one: "float32"
  bool keep_layers = false;               // never joins layers, see join_layers()
  // Largest number of events of a file in memory; a file with more uses a temporary file, which
  // changes no result. With `step_annotation` there is no limit.
  std::size_t most_events = std::size_t{1} << 19;
  bool with_costs = false; // also estimates the cost of the link (kineto_summary.hpp)
};

// The result of an import: the trace, what was measured besides, and where the gradient sizes come
// from or which option would give them.
struct KinetoImport {
  layers::Trace trace;
  MeasuredVariability variability;
  MeasuredCosts costs; // empty unless KinetoOptions::with_costs
  std::string sizes;   // "AccumulateGrad shapes (62 of 62 tensors), bfloat16"; empty = unknown
  std::string remedy;  // "404 gradients, no sizes: give --parameters N .."; empty = sizes are known
};

// Makes a trace, without `name` and `source`, of one or more ranks with equal layers. Compute times
// are medians over the ranks; backward times that were not recorded follow from `backward_ratio`;
// with TimeBasis::wall or a measured step, compute times are multiplied by wall_factor(). Of
// `sources` the members model, tables, parameters and dtype are replaced by those of `options`, and
// record_shapes by that of the first rank. Throws InputError
//   - if the files are of different jobs, two of them are of one rank, or their layers differ;
//   - if there are neither backward times nor `backward_ratio`;
//   - if a source of sizes does not fit;
// and as wall_factor() does.
[[nodiscard]] KinetoImport trace_of_ranks(std::span<const KinetoRank> ranks,
                                          const KinetoOptions& options, SizeSources sources = {});

// Fewer layers where a trace has very many (INP 1.11): operators without parameters, which are most
// of a large model, are parts of the layer that follows them.
inline constexpr std::size_t kMostSeparateLayers = 400;

// If there are more than kMostSeparateLayers layers, adds the times of each layer without gradients
// to the next layer with gradients (after the last one of these, to the last one), which keeps its
// name, and removes it. The positions of layers in `units` are adapted, and a warning of the trace
// has the number of layers before. Changes nothing if no layer has a gradient.
void join_layers(layers::Trace& trace);

// One file per rank ("-" = standard input). Throws InputError and UsageError (IO 17). If gradient
// sizes stay unknown, `remedy` of the result says which option would give them.
[[nodiscard]] KinetoImport import_kineto_job(const std::vector<std::string>& files,
                                             const KinetoOptions& options);

} // namespace stepsim::io
