#pragma once
// Implements the functions that a measurement of GPUs needs of a job (cuda/gpu_job.hpp) by MPI.
#include <mpi.h>

#include "calibrate/cuda/gpu_job.hpp"
#include "calibrate/mpi/runtime.hpp"

namespace stepsim::calibrate::mpi {

// The job of all ranks of `group`, which all must call this. `watchdog` must outlive the job.
[[nodiscard]] gpu::Job job_of(MPI_Comm group, Watchdog& watchdog);

} // namespace stepsim::calibrate::mpi
