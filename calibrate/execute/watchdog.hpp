#pragma once
// A watchdog against hanging in a job of several processes: it ends this process when an operation
// takes too long (CAL 13), and what holds the job together ends the others.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace stepsim::calibrate {

class Watchdog {
public:
  Watchdog(std::uint32_t rank, double timeout_s);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Starts the time limit of `operation`, which holds until the next call; "" stops the clock.
  void begin(std::string operation);

private:
  void watch(const std::stop_token& stop);

  std::uint32_t rank_;
  std::chrono::duration<double> timeout_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::string operation_;
  std::chrono::steady_clock::time_point started_;
  std::jthread thread_; // the first member to end
};

} // namespace stepsim::calibrate
