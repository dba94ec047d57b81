#pragma once
// Bookkeeping of stale gradients: a gradient computed on the weights of step i (or version i of a
// server) and applied when those weights have moved on by s steps has staleness s. Pipe-SGD
// (PIP 11): the gradient of iteration i is applied in step t = i + K, K the pipeline width, and has
// s = t - 1 - i: K - 1 in the steady phase, 0 in a synchronous one. Parameter server: versions
// between read and apply.
#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace stepsim::train {

class StalenessCounts {
public:
  void add(std::int64_t staleness) {
    assert(staleness >= 0 && "a gradient is applied after it is computed");
    const auto index = static_cast<std::size_t>(staleness);
    if (index >= histogram_.size()) {
      histogram_.resize(index + 1);
    }
    ++histogram_[index];
    ++count_;
    sum_ += staleness;
  }

  [[nodiscard]] std::int64_t count() const { return count_; }
  // 0 before any.
  [[nodiscard]] double mean() const {
    return count_ > 0 ? static_cast<double>(sum_) / static_cast<double>(count_) : 0;
  }
  [[nodiscard]] std::int64_t max() const {
    return std::max<std::int64_t>(static_cast<std::int64_t>(histogram_.size()) - 1, 0);
  }
  [[nodiscard]] const std::vector<std::int64_t>& histogram() const { return histogram_; }

private:
  std::vector<std::int64_t> histogram_; // [staleness] gradients
  std::int64_t count_{}, sum_{};
};

} // namespace stepsim::train
