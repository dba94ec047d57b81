#pragma once
// The rule of stale synchronous parameter servers (TRN 4.7): a worker computes iteration t only
// after the pushes of iteration t - 1 - s of all workers have been added. Without a bound s, no
// worker waits.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace stepsim::programs {

class StalenessBound {
public:
  StalenessBound(std::uint32_t workers, std::optional<std::int64_t> bound)
      : bound_(bound), completed_(workers), behind_(workers) {}

  // Records that a push of the worker has been added. Returns true if this raises the number of
  // pushes that every worker has, so that waiting workers may start.
  bool complete(std::uint32_t worker) {
    if (completed_[worker]++ > common_ || --behind_ > 0) {
      return false;
    }
    ++common_;
    behind_ = std::ranges::count(completed_, common_);
    return true;
  }
  // Whether a worker that has finished `iterations` iterations may start the next one.
  [[nodiscard]] bool may_start(std::int64_t iterations) const {
    return !bound_ || iterations - *bound_ <= common_;
  }

private:
  std::optional<std::int64_t> bound_;
  std::vector<std::int64_t> completed_; // [worker]: pushes that were added
  std::int64_t common_ = 0;             // least number of pushes over all workers
  std::int64_t behind_;                 // number of workers with exactly `common_` pushes
};

} // namespace stepsim::programs
