#pragma once
// PyTorch profiler traces (Kineto) to a layer trace (IO 4). The stages are plain values:
//   file -> KinetoRecording -> steps, Attribution -> StepSample per step -> KinetoRank per file
//        -> Trace
// Compute times are medians over the used steps (and over ranks), collectives minima, because
// their kernels contain the wait for the peers.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "files/import_options.hpp"
#include "import/kineto/kineto_rank.hpp"
#include "import/kineto/kineto_sizes.hpp"
#include "train/workload/model_table.hpp"
#include "train/workload/trace.hpp"

namespace stepsim::io {

enum class TimeBasis { kernel, wall };

struct KinetoOptions {
  ImportOptions common;
  std::optional<std::int64_t> batch_size;      // not in the file
  std::int64_t skip_steps = 1;                 // warm-up
  std::optional<std::string> step_annotation;  // regular expression for steps
  std::optional<std::string> model;            // table with the gradient sizes
  TimeBasis time = TimeBasis::kernel;          // wall: scaled to the step's wall time
  std::optional<Seconds> measured_step;        // scaled to this unprofiled step time
  std::optional<double> backward_ratio;        // backward = ratio x forward, forward-only traces
  std::span<const train::ModelTable> models{}; // tables to choose from
};

// One file per rank ("-" = standard input). Throws InputError, UsageError (IO 17). `remarks` gets
// what is good to know once, at the import, and is no warning of the trace: where its sizes come
// from.
[[nodiscard]] train::Trace import_kineto(const std::vector<std::string>& files,
                                         const KinetoOptions& options,
                                         std::vector<std::string>* remarks = nullptr);

// The last stage: ranks with equal layers to a trace, without `name` and `source`.
[[nodiscard]] train::Trace trace_of_ranks(std::span<const KinetoRank> ranks,
                                          const KinetoOptions& options,
                                          std::vector<std::string>* remarks = nullptr);

} // namespace stepsim::io
