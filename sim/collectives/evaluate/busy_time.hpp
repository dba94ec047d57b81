#pragma once
// Length of the union of every rank's busy intervals, so that sending, receiving and adding at the
// same time are not counted twice. Intervals come in any order; touching and overlapping intervals
// are joined from time to time, so that memory grows only with the number of separate intervals.
#include <cstdint>
#include <utility>
#include <vector>

namespace stepsim::collectives {

class BusyTime {
public:
  explicit BusyTime(std::uint32_t ranks) : intervals_(ranks), limit_(ranks, 64) {}
  void add(std::uint32_t rank, double begin, double end); // in s; ignored unless begin < end
  [[nodiscard]] std::vector<double> lengths();            // [rank] in s

private:
  using Intervals = std::vector<std::pair<double, double>>;
  static void join(Intervals& intervals);

  std::vector<Intervals> intervals_;
  std::vector<std::size_t> limit_; // [rank] number of intervals at which they are joined
};

} // namespace stepsim::collectives
