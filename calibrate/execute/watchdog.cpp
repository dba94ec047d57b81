#include "calibrate/execute/watchdog.hpp"

#include <cstdio>
#include <cstdlib>

namespace stepsim::calibrate {

Watchdog::Watchdog(std::uint32_t rank, double timeout_s)
    : rank_(rank), timeout_(timeout_s), thread_([this](std::stop_token stop) { watch(stop); }) {}

void Watchdog::begin(std::string operation) {
  const std::lock_guard lock(mutex_);
  operation_ = std::move(operation);
  started_ = std::chrono::steady_clock::now();
}

void Watchdog::watch(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, stop, std::chrono::milliseconds(200),
                            [&] { return stop.stop_requested(); })) {
    if (!operation_.empty() && std::chrono::steady_clock::now() - started_ > timeout_) {
      std::fprintf(stderr, "error: rank %u did not finish %s\n", rank_, operation_.c_str());
      std::fflush(stderr);
      std::_Exit(1); // the other thread may be held for good, by MPI or by NCCL
    }
  }
}

} // namespace stepsim::calibrate
