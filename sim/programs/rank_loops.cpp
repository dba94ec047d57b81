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

STEPSIM_VECTOR_CLONES
std::pair<double, double> extremes(const double* values, std::size_t count) {
  constexpr std::size_t kFew = 8;
  std::array<double, kFew> least;
  std::array<double, kFew> largest;
  least.fill(values[0]);
  largest.fill(values[0]);
  const std::size_t whole = count - count % kFew;
  for (std::size_t i = 0; i < whole; i += kFew) {
    for (std::size_t k = 0; k < kFew; ++k) {
      least[k] = values[i + k] < least[k] ? values[i + k] : least[k];
      largest[k] = values[i + k] > largest[k] ? values[i + k] : largest[k];
    }
  }
  for (std::size_t i = whole; i < count; ++i) {
    least[0] = std::min(least[0], values[i]);
    largest[0] = std::max(largest[0], values[i]);
  }
  return {*std::ranges::min_element(least), *std::ranges::max_element(largest)};
}

} // namespace

std::pair<double, double> least_and_largest(std::span<const double> values) {
  return extremes(values.data(), values.size());
}

double advance_ranks(std::span<double> ends, std::span<const double> factors, double earliest,
                     double seconds) {
  return advance(ends.data(), factors.data(), ends.size(), earliest, seconds);
}

} // namespace stepsim::programs
