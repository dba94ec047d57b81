#pragma once
// Length of the union of busy intervals of every rank: sending, receiving and adding at once count
// once. Intervals come in any order; touching and overlapping ones are joined now and then, so that
// memory follows the number of separate busy stretches.
#include <cstdint>
#include <utility>
#include <vector>

namespace stepsim::coll {

class BusyTime {
public:
  explicit BusyTime(std::uint32_t ranks) : intervals_(ranks), limit_(ranks, 64) {}
  void add(std::uint32_t rank, double begin, double end); // s; ignored unless begin < end
  [[nodiscard]] std::vector<double> lengths();            // per rank, s

private:
  using Intervals = std::vector<std::pair<double, double>>;
  static void join(Intervals& intervals);

  std::vector<Intervals> intervals_;
  std::vector<std::size_t> limit_; // join when there are that many
};

} // namespace stepsim::coll
