#pragma once
// Stale synchronous servers (TRN 4.7): a worker computes iteration t only when the pushes of
// iteration t - 1 - s of all workers have been added. Without a bound s nobody waits.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace stepsim::train {

class StalenessBound {
public:
  StalenessBound(std::uint32_t workers, std::optional<std::int64_t> bound)
      : bound_(bound), completed_(workers), behind_(workers) {}

  // A push of the worker has been added. True if all workers have now one more, so that workers
  // that were held may start.
  bool complete(std::uint32_t worker) {
    if (completed_[worker]++ > common_ || --behind_ > 0) {
      return false;
    }
    ++common_;
    behind_ = std::ranges::count(completed_, common_);
    return true;
  }
  // Of a worker that has done so many iterations.
  [[nodiscard]] bool may_start(std::int64_t iterations) const {
    return !bound_ || iterations - *bound_ <= common_;
  }

private:
  std::optional<std::int64_t> bound_;
  std::vector<std::int64_t> completed_; // [worker] pushes
  std::int64_t common_ = 0;             // pushes of every worker
  std::int64_t behind_;                 // workers with no more than that
};

} // namespace stepsim::train
