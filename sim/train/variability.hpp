#pragma once
// How workers differ: constant factors of stragglers, random factors with mean 1 per worker and
// iteration. A factor depends on (seed, stream, worker, iteration) alone, never on the algorithm,
// the pipeline width, the order of drawing or the thread, so comparisons are paired (PIP 9).
#include <cstdint>
#include <string_view>
#include <vector>

namespace stepsim::train {

enum class JitterLaw { lognormal, uniform, exponential, gamma, empirical };

struct Straggler {
  std::uint32_t worker{};
  double factor = 1; // > 0, of compute
};

struct Variability {
  double compute_cv = 0;  // coefficient of variation; uniform <= 1/sqrt(3), exponential 0 or 1
  double exchange_cv = 0; // one factor per iteration for all workers
  JitterLaw law = JitterLaw::lognormal;
  std::vector<double> factors;       // empirical: > 0, rescaled to mean 1
  std::vector<Straggler> stragglers; // every worker at most once
  std::uint64_t seed = 1;

  [[nodiscard]] bool random() const { return compute_cv > 0 || exchange_cv > 0; }
  [[nodiscard]] bool varies() const { return random() || !stragglers.empty(); }
};

// worker from 0, iteration from 1. Streams 16 (compute) and 17 (exchange) of `u01` (PIP 9).
[[nodiscard]] double compute_factor(const Variability& variability, std::uint32_t worker,
                                    std::int64_t iteration); // the straggler's factor included
[[nodiscard]] double exchange_factor(const Variability& variability, std::int64_t iteration);

} // namespace stepsim::train
