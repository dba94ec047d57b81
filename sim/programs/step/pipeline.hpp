#pragma once
// The bookkeeping of Pipe-SGD: which gradient every step applies (PIP 8), their staleness (PIP 11),
// and the width of the pipeline (PIP 4, 10). programs/builders/step_programs.hpp has the program
// itself.

#include "base/words.hpp"
#include "layers/staleness.hpp"

namespace stepsim::programs {

// The first steps after a warm-up. skip: K - 1 steps wait for nothing and apply nothing; block
// (K = 2): the first two both wait for the step before, and the second applies nothing.
enum class WarmupSwitch { skip, block };
inline constexpr auto kWarmupSwitches = base::words<WarmupSwitch>();

// The steps of a run, which alone decide which gradients are applied when.
struct PipelineSteps {
  std::int64_t iterations = 1;        // T
  std::int64_t width = 1;             // K >= 1
  std::int64_t warmup_iterations = 0; // W: that many first iterations run as with K = 1
  WarmupSwitch warmup_switch = WarmupSwitch::skip;
};

// The iteration whose gradient step t applies (0: none, and the optimizer step is skipped); PIP 8.
// t begins at 1.
[[nodiscard]] std::int64_t applied_gradient(std::int64_t t, std::int64_t width,
                                            std::int64_t warmup_iterations, WarmupSwitch how);
[[nodiscard]] std::int64_t applied_gradient(const PipelineSteps& steps, std::int64_t t);

// The staleness of the gradients applied in steps 1..T and, with `drain`, of the pending gradients.
[[nodiscard]] layers::StalenessCounts pipeline_staleness(const PipelineSteps& steps, bool drain);
// The number of gradients that are not applied after the last step.
[[nodiscard]] std::int64_t pending_gradients(const PipelineSteps& steps);

// The period with constant, equal times: c + m for K = 1; max(c, m) for K >= 2, because (c + m) / K
// is never larger; max(m, c + m (1 - 1/s)) for K >= 2 with a slowdown s. Source: PIP 4, 12
// (derived).
[[nodiscard]] double pipeline_period(double compute_s, double exchange_s, std::int64_t width,
                                     double compute_slowdown = 1);

// The smallest width whose period is at most (1 + tolerance) times that of `max_width` (PIP 10).
// period_s(K) gives the period with width K, with the same random factors and without warm-up.
template <class Period>
[[nodiscard]] std::int64_t best_width(std::int64_t max_width, double tolerance, Period period_s) {
  constexpr double kRounding = 1e-12;
  const double limit = (1 + tolerance) * (1 + kRounding) * period_s(max_width);
  std::int64_t width = 1;
  while (width < max_width && period_s(width) > limit) {
    ++width;
  }
  return width;
}

} // namespace stepsim::programs
