#pragma once
// Imports PyTorch profiler traces (Kineto) as a layer trace (IO 4). The stages are plain values:
//   file -> KinetoRecording -> steps, Attribution -> StepSample per step -> KinetoRank per file
//        -> Trace
// Compute times are medians over the steps that kineto_rank.hpp keeps, and then over ranks. For
// collectives the minimum is kept, because their kernels contain the wait for the peers; buckets
// also keep the median and the maximum.
#include <string>
#include <vector>

#include "import/kineto/kineto_trace.hpp"

namespace stepsim::io {

// One file per rank ("-" = standard input). Throws InputError and UsageError (IO 17). If gradient
// sizes stay unknown, `remedy` of the result says which option would give them.
[[nodiscard]] KinetoImport import_kineto_job(const std::vector<std::string>& files,
                                             const KinetoOptions& options);

// Only the trace of import_kineto_job().
[[nodiscard]] layers::Trace import_kineto(const std::vector<std::string>& files,
                                          const KinetoOptions& options);

} // namespace stepsim::io
