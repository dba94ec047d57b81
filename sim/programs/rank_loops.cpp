#include "programs/rank_loops.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/vector_clones.hpp"

namespace stepsim::programs {
namespace {

constexpr std::size_t kLanes = 32;

// Selects instead of branches, and one maximum per lane, so that the lanes stay together.
STEPSIM_VECTOR_CLONES
double advance(double* __restrict ends, const double* __restrict factors, std::size_t ranks,
               double earliest, double seconds) {
  std::array<double, kLanes> largest{};
  const std::size_t whole = ranks - ranks % kLanes;
  for (std::size_t rank = 0; rank < whole; rank += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) {
      const double before = ends[rank + k];
      const double start = before > earliest ? before : earliest;
      const double end = start + factors[rank + k] * seconds;
      ends[rank + k] = end;
      largest[k] = largest[k] > end ? largest[k] : end;
    }
  }
  double last = 0;
  for (std::size_t rank = whole; rank < ranks; ++rank) {
    const double end = std::max(ends[rank], earliest) + factors[rank] * seconds;
    ends[rank] = end;
    last = std::max(last, end);
  }
  return std::max(last, *std::ranges::max_element(largest));
}

} // namespace

double advance_ranks(std::span<double> ends, std::span<const double> factors, double earliest,
                     double seconds) {
  return advance(ends.data(), factors.data(), ends.size(), earliest, seconds);
}

} // namespace stepsim::programs
