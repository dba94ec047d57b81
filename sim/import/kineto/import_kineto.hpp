#pragma once
// PyTorch profiler traces (Kineto) to a layer trace (IO 4). The stages are plain values:
//   file -> KinetoRecording -> steps, Attribution -> StepSample per step -> KinetoRank per file
//        -> Trace
// Compute times are medians over the used steps (and over ranks). Of collectives the minimum is
// kept, because their kernels contain the wait for the peers, and of buckets also the median and
// the maximum.
#include <string>
#include <vector>

#include "import/kineto/kineto_trace.hpp"

namespace stepsim::io {

// One file per rank ("-" = standard input). Throws InputError, UsageError (IO 17). Gradient sizes
// may stay unknown: `remedy` then says what to give.
[[nodiscard]] KinetoImport import_kineto_job(const std::vector<std::string>& files,
                                             const KinetoOptions& options);

// The trace alone.
[[nodiscard]] train::Trace import_kineto(const std::vector<std::string>& files,
                                         const KinetoOptions& options);

} // namespace stepsim::io
