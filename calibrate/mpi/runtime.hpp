#pragma once
// MPI for the duration of one command, and a watchdog against hanging: it ends this process, and
// with it the job, when an operation takes too long (CAL 13).
#include <mpi.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace stepsim::calibrate::mpi {

class Runtime {
public:
  Runtime(); // calls MPI_Init_thread with MPI_THREAD_SERIALIZED
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  [[nodiscard]] std::uint32_t rank() const { return rank_; }
  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
  // Ends all processes with this exit code: for an error of one rank while other ranks may wait for
  // it.
  [[noreturn]] static void abort(int code);

private:
  std::uint32_t rank_{}, ranks_{};
};

class Watchdog {
public:
  Watchdog(std::uint32_t rank, double timeout_s);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Starts the time limit of `operation`, which holds until the next call; "" stops the clock.
  void begin(std::string operation);

private:
  void watch();

  std::uint32_t rank_;
  std::chrono::duration<double> timeout_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string operation_;
  std::chrono::steady_clock::time_point started_;
  bool stop_ = false;
  std::thread thread_;
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
// [rank] the number of its host, from 0 in the order of their first ranks. Ranks that can share
// memory are on one host; their messages may go through memory. All ranks must call it.
[[nodiscard]] std::vector<std::uint32_t> hosts_of_ranks(MPI_Comm group);

} // namespace stepsim::calibrate::mpi
