#pragma once
// Counts gradients by staleness: the number s of steps (or versions of a server) by which the
// weights have changed between the computation of a gradient and its application. In Pipe-SGD
// (PIP 11) the gradient of iteration i is applied in step t = i + K with pipeline width K, so that
// s = t - 1 - i: K - 1 in the steady phase, 0 in synchronous training. With a parameter server, s
// is the number of versions between reading the weights and applying the gradient.
#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace stepsim::layers {

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
  // The mean staleness; 0 if no gradient was counted.
  [[nodiscard]] double mean() const {
    return count_ > 0 ? static_cast<double>(sum_) / static_cast<double>(count_) : 0;
  }
  [[nodiscard]] std::int64_t max() const {
    return std::max<std::int64_t>(static_cast<std::int64_t>(histogram_.size()) - 1, 0);
  }
  [[nodiscard]] const std::vector<std::int64_t>& histogram() const { return histogram_; }

private:
  std::vector<std::int64_t> histogram_; // [staleness]: number of gradients
  std::int64_t count_{}, sum_{};
};

} // namespace stepsim::layers
