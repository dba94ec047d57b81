#include "programs/gradient_age.hpp"

#include <algorithm>
#include <cstddef>

namespace stepsim::programs {

std::int32_t staleness(const Applied& applied) {
  return applied.update < applied.exchange ? applied.distance - 1 : applied.distance;
}

std::vector<std::int64_t> staleness_histogram(const Program& program, std::int64_t iterations) {
  std::vector<std::int64_t> counts;
  for (const Applied& applied : program.applies) {
    const auto age = static_cast<std::size_t>(staleness(applied));
    counts.resize(std::max(counts.size(), age + 1), 0);
    counts[age] += std::max<std::int64_t>(0, iterations - applied.distance);
  }
  return counts;
}

} // namespace stepsim::programs
