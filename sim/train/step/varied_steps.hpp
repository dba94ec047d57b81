#pragma once
// Iterations of synchronous SGD whose workers differ (MER 7, PIP 9): every worker computes at its
// own pace, messages are ready when the last worker is, and travel once for all.
//
//   worker w, iteration t   f = compute factor of (w, t), e = exchange factor of t
//   backward   x_w += f t_b(l) from the last layer to the first;   ready(l) = max over w of x_w
//   messages   by the discipline of the step, from ready(l), all durations times e
//   forward    x_w = max(x_w, done(l)) + f' (u(l) + t_f(l)), f' of iteration t + 1
//
// x_w is the clock of worker w, u(l) and t_f(l) the update and forward of layer l, t_b(l) its
// backward. A period lasts from the start of backward of the slowest worker to the next such start.
// Its parts add up to it: computing, which is the period if messages took no time, so that workers
// wait for nothing but slower workers; exposed communication; and waiting for input. Where workers
// are equal this is `run_step`. O(iterations x workers x layers), nothing allocated per iteration.
#include <cstdint>
#include <vector>

#include "train/step/step.hpp"
#include "train/workload/variability.hpp"

namespace stepsim::train {

// Lower bounds of the messages of one iteration, in seconds at exchange factor 1, whatever their
// order and partition (MER 3).
struct MessageBounds {
  std::uint32_t first_sender{}; // the layer whose backward makes the first bytes ready
  double first_layer_s = 0;     // the channel carries the bytes of layer 0; 0 = it has none
  double all_s = 0;             // the channel carries all bytes; 0 = there are none
};

// The four times before period_s count from the start of the run, where the first forward begins.
struct VariedIteration {
  double start_s{};       // the first worker starts its forward
  double compute_end_s{}; // backward of the last worker
  double exchange_start_s{}, exchange_end_s{};
  double period_s{};     // = compute + exposed + input wait
  double compute_s{};    // the period if messages took no time and input were there
  double input_wait_s{}; // by how much loading delays the last worker
  // How much shorter the period would be if messages took no time, were input always there; what
  // loading delays beyond that is input_wait_s. Waiting for slower workers is not communication.
  double exposed_s{};
  // No order and partition of messages gives a shorter period, with the factors drawn and from
  // where the workers were when the period began.
  double lower_bound_s{};
};

struct VariedWorker {
  double compute_s{};        // mean busy time c_w of the periods that count
  double straggler_wait_s{}; // VariedSteps::compute_s less c_w, at least 0
};

struct VariedSteps {
  std::vector<VariedIteration> iterations;
  std::vector<VariedWorker> workers;
  // Means over the iterations that are not discarded.
  double period_s{};
  double compute_s{};
  double exposed_s{};
  double input_wait_s{};
  double lower_bound_s{};
  double communication_s{};
  double straggler_wait_s{}; // over workers
  double makespan_s{};       // not a mean: end of the run, with the last messages and updates
};

// `discard`: iterations left out of the means, fewer than `iterations`.
[[nodiscard]] VariedSteps run_varied_steps(const StepInput& step, const Variability& variability,
                                           std::uint32_t workers, std::int64_t iterations,
                                           std::int64_t discard, const MessageBounds& bounds = {});

} // namespace stepsim::train
