#pragma once
// Processes that measure together, one rank and one GPU each, as mpirun, srun and torchrun start
// them. What a measurement needs of the other processes is a set of functions, so that this folder
// does not need MPI: mpi/runtime.hpp provides them by MPI, socket_job.hpp over TCP. In a job of one
// rank, the default, one process drives all GPUs of its host, and none of the functions is called.
//
// All ranks call each function in the same order.
#include <cstdint>
#include <functional>
#include <optional>

#include "base/error.hpp"

namespace stepsim::calibrate::gpu {

struct Job {
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
  // Number of the host of every rank: hosts count from 0 in the order of their first rank.
  std::vector<std::uint32_t> host_of{0};
  std::function<void(void* data, std::size_t bytes)> broadcast{}; // sends the data of rank 0 to all
  std::function<double(double)> largest{};                        // maximum over all ranks
  // [rank] the texts of all ranks; every rank gets them.
  std::function<std::vector<std::string>(const std::string&)> gather{};
  std::function<void()> barrier{};
  // Starts the time limit of the operation with this name, which is in the message if the job is
  // ended; "" ends the time limit.
  std::function<void(const std::string&)> begin{};

  [[nodiscard]] bool is_alone() const { return ranks == 1; }
};
inline const Job kAlone{};

// A failure that all ranks know of: each of them throws it with the same text.
class JobError : public SimulationError {
  using SimulationError::SimulationError;
};

// There is no device, no driver or no NCCL to measure with: exit code 77.
class NotAvailable : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The error of the lowest rank that failed, such as "rank 3 (host 1): text", with the number of
// other ranks that failed. All ranks get the same text; it is "" if no rank failed. `error` is the
// error of the calling rank, "" if it has none.
[[nodiscard]] std::string first_error(const Job& job, const std::string& error);
// Throws JobError with the text of first_error() on all ranks, if any rank failed.
void throw_if_any(const Job& job, const std::string& error);

// Chooses a GPU for each rank of one host. `visible` [rank of the host][GPU] lists the GPUs that
// each rank sees, by identifiers that are unique within the host. Returns [rank of the host] the
// position of its GPU in its list; empty if no GPU is left. Ranks choose in ascending order and
// take the first free GPU of their list, so that it does not matter whether all ranks see all GPUs
// or each rank only its own. Example: lists {a, b}, {a, b}, {c} give 0, 1, 0.
[[nodiscard]] std::vector<std::optional<int>>
take_devices(const std::vector<std::vector<std::string>>& visible);

// The GPU of this rank, as its position in `visible`, the identifiers of the GPUs that this process
// sees. Throws on all ranks: NotAvailable if any rank sees no GPU, UsageError if a host has more
// ranks than GPUs.
[[nodiscard]] int device_of_rank(const Job& job, const std::vector<std::string>& visible);

} // namespace stepsim::calibrate::gpu
