#pragma once
// MPI for the duration of one command.
#include <mpi.h>

#include "calibrate/cuda/gpu_job.hpp"
#include "calibrate/execute/watchdog.hpp"

namespace stepsim::calibrate::mpi {

// The rank of this process in a group, and the number of ranks there.
[[nodiscard]] std::uint32_t rank_in(MPI_Comm group);
[[nodiscard]] std::uint32_t ranks_in(MPI_Comm group);

class Runtime {
public:
  Runtime(); // calls MPI_Init_thread with MPI_THREAD_SERIALIZED
  ~Runtime() { MPI_Finalize(); }
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  [[nodiscard]] std::uint32_t rank() const { return rank_in(MPI_COMM_WORLD); }
  [[nodiscard]] std::uint32_t ranks() const { return ranks_in(MPI_COMM_WORLD); }
  // Ends all processes with this exit code: for an error of one rank while other ranks may wait for
  // it.
  [[noreturn]] static void abort(int code);
};

// The value of a control variable of the MPI library, such as "btl_tcp_eager_limit"; "" = unknown.
[[nodiscard]] std::string control_variable(const std::string& name);
// The largest number of processes of `group` on one machine, and the smallest number of cores that
// any process of `group` may use, which may be on another machine. Containers that share a kernel
// are one machine.
struct Crowding {
  int processes{};
  int cores{};
};
[[nodiscard]] Crowding crowding(MPI_Comm group);
// The largest value of all ranks, which all must call with theirs.
[[nodiscard]] double largest_of_all(double value, MPI_Comm group);
// [rank] the number of its host, from 0 in the order of their first ranks. Ranks that can share
// memory are on one host; their messages may go through memory. All ranks must call it.
[[nodiscard]] std::vector<std::uint32_t> hosts_of_ranks(MPI_Comm group);

// Implements the functions that a measurement of GPUs needs of a job (cuda/gpu_job.hpp) by MPI.

// The job of all ranks of `group`, which all must call this. `watchdog` must outlive the job.
[[nodiscard]] gpu::Job job_of(MPI_Comm group, Watchdog& watchdog);

} // namespace stepsim::calibrate::mpi
