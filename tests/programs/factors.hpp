#pragma once
// The factor of one worker and iteration, or of one exchange, from a Jitter of its own.
#include <algorithm>
#include <cstdint>

#include "layers/variability.hpp"

namespace stepsim::programs {

[[nodiscard]] inline layers::Jitter jitter_of(const layers::Variability& variability,
                                              std::uint32_t workers) {
  for (const layers::Straggler& straggler : variability.stragglers) {
    workers = std::max(workers, straggler.worker + 1);
  }
  return {variability, workers};
}

[[nodiscard]] inline double compute_factor(const layers::Variability& variability,
                                           std::uint32_t worker, std::int64_t iteration) {
  return jitter_of(variability, worker + 1).compute(worker, iteration);
}

[[nodiscard]] inline double exchange_factor(const layers::Variability& variability,
                                            std::int64_t iteration) {
  return jitter_of(variability, 1).exchange(iteration);
}

} // namespace stepsim::programs
