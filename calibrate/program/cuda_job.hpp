#pragma once
// The end of `cuda --mpi`: MPI for the length of the measurement. Needs both back ends.
#include <functional>

#include "calibrate/cuda/measure.hpp"

namespace stepsim::calibrate {

// Measures with all processes of the job, one GPU each. Rank 0 hands out records and progress,
// calls `write` at the end and gives back its exit code; the other ranks give back kOk. A failure
// that all ranks know of is reported by rank 0 and gives the same exit code on all ranks; of any
// other the rank that fails tells, and ends the job. Throws UsageError for fewer than two
// processes. No operation takes longer than `timeout_s`, or its rank ends the job.
[[nodiscard]] int measure_job(const gpu::MeasureOptions& options, double timeout_s,
                              const gpu::Sink& records, const gpu::Sink& progress,
                              const std::function<int()>& write);

} // namespace stepsim::calibrate
