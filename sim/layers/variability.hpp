#pragma once
// The variability of workers: constant factors of stragglers, and random factors with mean 1 per
// worker and iteration. A random factor depends on (seed, stream, worker, iteration) only, and not
// on the algorithm, the pipeline width, the order of evaluation or the thread, so that comparisons
// are paired (PIP 9).
//
//   uniform      1 + h (2u - 1), h = sqrt(3) cv           exponential  -ln(1 - u), cv = 1
//   lognormal    exp(sigma z - sigma^2 / 2), sigma^2 = ln(1 + cv^2), z standard normal
//   gamma        shape 1 / cv^2, scale cv^2               empirical    factors[floor(u length)]
//
// cv is the coefficient of variation, u uniform in [0, 1).
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/words.hpp"

namespace stepsim::layers {

enum class JitterLaw { lognormal, uniform, exponential, gamma, empirical };
inline constexpr auto kJitterLaws = base::words<JitterLaw>();

struct Straggler {
  std::uint32_t worker{};
  double factor = 1; // factor on compute times, > 0
};

struct Variability {
  // Coefficients of variation: at most 1/sqrt(3) with uniform, 0 or 1 with exponential. An
  // empirical list has its own spread: 0 switches the factors off, and any other value switches
  // them on.
  double compute_cv = 0;
  double exchange_cv = 0; // one factor per iteration for all workers
  JitterLaw law = JitterLaw::lognormal;
  std::vector<double> factors{};       // empirical: factors > 0, which are scaled to a mean of 1
  std::vector<Straggler> stragglers{}; // every worker at most once
  std::uint64_t seed = 1;

  [[nodiscard]] bool random() const { return compute_cv > 0 || exchange_cv > 0; }
  // Whether any factor can differ from 1.
  [[nodiscard]] bool varies() const {
    return random() || std::any_of(stragglers.begin(), stragglers.end(),
                                   [](const Straggler& each) { return each.factor != 1; });
  }
};

// The least factor of the law with this coefficient of variation; 0 for laws whose factors can be
// arbitrarily close to 0.
[[nodiscard]] double least_factor(const Variability& variability, double cv);

// Computes the random factors of a run; values that are constant over the run are computed once,
// and the first factors that are asked for are kept. Not thread-safe.
class Jitter {
public:
  Jitter(const Variability& variability, std::uint32_t workers);
  [[nodiscard]] const Variability& variability() const { return variability_; }
  [[nodiscard]] std::uint32_t workers() const { return workers_; }

  // The factor on the compute times of a worker (from 0) in an iteration (from 1), including its
  // straggler factor, and the factor on the exchanges of an iteration. They are drawn from the
  // streams 16 and 17 (with worker 0) of base::u01.
  [[nodiscard]] double compute(std::uint32_t worker, std::int64_t iteration) const;
  [[nodiscard]] double exchange(std::int64_t iteration) const;
  // The straggler factor of a worker, which is the constant part of compute(), and the smallest and
  // largest straggler factor of all workers.
  [[nodiscard]] double straggler(std::uint32_t worker) const {
    return stragglers_.empty() ? 1 : stragglers_[worker];
  }
  [[nodiscard]] double fastest() const {
    return stragglers_.empty() ? 1 : std::ranges::min(stragglers_);
  }
  [[nodiscard]] double slowest() const {
    return stragglers_.empty() ? 1 : std::ranges::max(stragglers_);
  }

private:
  static constexpr std::size_t kMostKept = 1 << 20;

  Variability variability_;
  std::uint32_t workers_;
  std::vector<double> stragglers_;   // [worker]; empty if all are 1
  mutable std::vector<double> kept_; // [(iteration - 1) * workers + worker]; NaN: not drawn yet
  double empirical_scale_ = 1;       // 1 / mean of the list
};

} // namespace stepsim::layers
