#pragma once
// Runs the measurement of `stepsim-calibrate cuda --mpi` and initialises MPI only for it. It is
// built only if both the CUDA and the MPI back end are.
#include <functional>

#include "calibrate/cuda/measure.hpp"

namespace stepsim::calibrate {

// Measures with all processes of the job, one GPU each, and returns the exit code. On rank 0
// `records` and `progress` get the lines. After a measurement that did not fail, rank 0 calls
// `write` and returns its result as the exit code; other ranks return kOk, even if `write` fails.
// If all ranks know of a failure, rank 0 reports it, and all ranks return the same exit code. If
// only one rank knows of it, that rank reports it and ends the job. A rank also ends the job if one
// operation takes longer than `timeout_s`. Throws UsageError for fewer than two processes.
[[nodiscard]] int measure_job(const gpu::MeasureOptions& options, double timeout_s,
                              const gpu::Sink& records, const gpu::Sink& progress,
                              const std::function<int()>& write);

} // namespace stepsim::calibrate
