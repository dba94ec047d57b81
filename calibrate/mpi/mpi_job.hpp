#pragma once
// The processes of an MPI job as a measurement of GPUs needs them (cuda/gpu_job.hpp).
#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "calibrate/cuda/gpu_job.hpp"
#include "calibrate/mpi/runtime.hpp"

namespace stepsim::calibrate::mpi {

// Numbers from 0 in the order of first appearance: {7, 7, 2, 7} gives {0, 0, 1, 0}.
[[nodiscard]] std::vector<std::uint32_t> numbered(std::span<const int> labels);

// Whether MPI takes addresses of GPU memory. Known for Open MPI only; elsewhere false.
[[nodiscard]] bool takes_device_memory();

// Must outlive the Job that it gives. Ranks that can share memory are ranks of one host
// (MPI_Comm_split_type).
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
