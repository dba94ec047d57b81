#pragma once
// Implements the functions that a measurement of GPUs needs of a job (cuda/gpu_job.hpp) by MPI.
#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "calibrate/cuda/gpu_job.hpp"
#include "calibrate/mpi/runtime.hpp"

namespace stepsim::calibrate::mpi {

// Replaces labels by numbers from 0 in the order of first appearance: {7, 7, 2, 7} gives
// {0, 0, 1, 0}.
[[nodiscard]] std::vector<std::uint32_t> numbered(std::span<const int> labels);

// Whether MPI takes addresses of GPU memory. Only Open MPI can be asked; false for other libraries.
[[nodiscard]] bool takes_device_memory();

// An MpiJob must outlive the Job that job() returns. Ranks that can share memory
// (MPI_Comm_split_type) are on one host. All ranks must call job().
class MpiJob {
public:
  MpiJob(MPI_Comm group, Watchdog& watchdog) : group_(group), watchdog_(watchdog) {}
  MpiJob(const MpiJob&) = delete;
  MpiJob& operator=(const MpiJob&) = delete;
  [[nodiscard]] gpu::Job job();

private:
  [[nodiscard]] std::vector<std::string> gather(const std::string& text) const;

  MPI_Comm group_;
  Watchdog& watchdog_;
  std::vector<MPI_Request> requests_;
};

} // namespace stepsim::calibrate::mpi
