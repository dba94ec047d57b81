#pragma once
// The staleness of all gradients that a program applies.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "programs/training_program.hpp"

namespace stepsim::programs {

// Element k is the number of gradients of staleness k that `iterations` iterations apply.
inline std::vector<std::int64_t> staleness_histogram(const Program& program,
                                                     std::int64_t iterations) {
  std::vector<std::int64_t> counts;
  for (const Applied& applied : program.applies) {
    const auto age = static_cast<std::size_t>(applied.staleness());
    counts.resize(std::max(counts.size(), age + 1), 0);
    counts[age] += std::max<std::int64_t>(0, iterations - applied.distance);
  }
  return counts;
}

} // namespace stepsim::programs
