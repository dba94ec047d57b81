#pragma once
// A job (gpu_job.hpp) without MPI: processes that torchrun started, or any other launcher that sets
// its environment variables, find each other over TCP. Rank 0 listens, all others keep a connection
// to it, and every function of the job is one exchange of texts over these connections.
#include <atomic>

#include "calibrate/cuda/gpu_job.hpp"
#include "calibrate/execute/watchdog.hpp"

namespace stepsim::calibrate::gpu {

// RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT of this process. Where torchrun itself
// listens on MASTER_PORT (TORCHELASTIC_USE_AGENT_STORE=True) `port` is the next one.
struct ProcessPlace {
  std::uint32_t rank{}, ranks{}, local_rank{};
  std::string address;
  std::uint16_t port{};
};
// Throws UsageError for a variable that is missing or wrong, and for fewer than 2 processes.
[[nodiscard]] ProcessPlace place_of_process();

// The connections. If a rank ends before it has said that it is finished, every process ends with
// exit code 1, and those connected to it say which rank it was, unless it gave the reason (fail()).
class SocketGroup {
public:
  // Waits for all ranks. Throws UsageError on rank 0 if two processes have one rank or another
  // number of ranks, SimulationError if a rank is not there after `timeout_s`.
  SocketGroup(const ProcessPlace& place, double timeout_s);
  ~SocketGroup(); // tells the others that this rank is finished
  SocketGroup(const SocketGroup&) = delete;
  SocketGroup& operator=(const SocketGroup&) = delete;

  // [rank] the texts of all ranks, on every rank; all call it in the same order.
  [[nodiscard]] std::vector<std::string> gather(const std::string& text);
  // Ends all processes, this one with `code`, after it has reported an error that only it knows.
  [[noreturn]] void fail(int code);
  [[nodiscard]] std::uint32_t rank() const { return rank_; }
  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }

private:
  void listen_at(const ProcessPlace& place, double timeout_s);
  void connect_to(const ProcessPlace& place, double timeout_s);
  void watch(const std::stop_token& stop);
  void end_connections(std::uint32_t word);
  void send(std::uint32_t peer, const std::string& text);
  [[nodiscard]] std::string receive(std::uint32_t peer);

  std::uint32_t rank_, ranks_;
  std::vector<int> sockets_;  // [rank] -1 = no connection to it
  std::timed_mutex sends_;    // held while a text or the last word is sent
  std::atomic<bool> fails_{}; // a thread ends this process
  std::jthread watcher_;
};

// The job of the group, which must outlive it, as must the watchdog. A host begins where LOCAL_RANK
// is 0: ranks of a host follow each other, as torchrun numbers them. Throws UsageError on all ranks
// if LOCAL_RANK is neither 0 nor one more than that of the rank before.
[[nodiscard]] Job job_of(SocketGroup& group, std::uint32_t local_rank, Watchdog& watchdog);

} // namespace stepsim::calibrate::gpu
