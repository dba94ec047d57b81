#pragma once
// Iterations of synchronous SGD whose workers differ (MER 7, PIP 9): every worker computes at its
// own pace, messages are ready when the last worker is, and travel once for all.
//
//   worker w, iteration t   f = compute factor of (w, t), e = exchange factor of t
//   backward   x_w += f t_b(l) from the last layer to the first;   ready(l) = max over w of x_w
//   messages   by the discipline of the step, from ready(l), all durations times e
//   forward    x_w = max(x_w, done(l)) + f' (u(l) + t_f(l)), f' of iteration t + 1
//
// A period lasts from the start of backward of the slowest worker to the next. Where workers are
// equal this is `run_step`. O(iterations x workers x layers), nothing allocated per iteration.
#include <cstdint>
#include <vector>

#include "train/step.hpp"
#include "train/variability.hpp"

namespace stepsim::train {

struct VariedIteration {
  double start_s{};       // the first worker starts its forward
  double compute_end_s{}; // backward of the last worker
  double exchange_start_s{}, exchange_end_s{};
  double period_s{};
  // What the period would be shorter by if messages took no time: waiting for slower workers is no
  // communication.
  double exposed_s{};
};

struct VariedWorker {
  double compute_s{};        // mean busy time c_w per iteration
  double straggler_wait_s{}; // mean of max over workers of c_w, minus c_w
};

struct VariedSteps {
  std::vector<VariedIteration> iterations;
  std::vector<VariedWorker> workers;
  // Means over the iterations that are not discarded.
  double period_s{};
  double compute_s{};                           // of the slowest worker
  double forward_s{}, backward_s{}, update_s{}; // its parts
  double exposed_s{};
  double communication_s{};
  double straggler_wait_s{}; // over workers
  double makespan_s{};       // all messages and updates of the last iteration
};

// `discard`: iterations left out of the means, fewer than `iterations`.
[[nodiscard]] VariedSteps run_varied_steps(const StepInput& step, const Variability& variability,
                                           std::uint32_t workers, std::int64_t iterations,
                                           std::int64_t discard);

} // namespace stepsim::train
