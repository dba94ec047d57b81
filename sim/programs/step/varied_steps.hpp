#pragma once
// Simulates iterations of synchronous SGD whose workers differ (MER 7, PIP 9). Every worker
// computes at its own pace; a message starts when it is ready on the last worker and ends for all
// workers at once.
//
//   worker w, iteration t   f = compute factor of (w, t), e = exchange factor of t
//   backward   x_w += f t_b(l) from the last layer to the first;   ready(l) = max over w of x_w
//   messages   by the discipline of the step, from ready(l), all durations times e
//   forward    x_w = max(x_w, done(l)) + f' (u(l) + t_f(l)), f' of iteration t + 1
//
// x_w is the clock of worker w; u(l), t_f(l) and t_b(l) are the update, forward and backward of
// layer l. A period lasts from the start of backward of the slowest worker to the next such start.
// It is the sum of compute (the period if messages took no time, which includes waiting for slower
// workers), exposed communication, and waiting for input. The record of an iteration compares it
// with itself without messages; the means compare the run with a whole run without messages (TRN
// 2.6), which differs where messages change when a worker reaches the next iteration. If all
// workers are equal, the result is that of run_step(). O(iterations x workers x layers), without
// allocation per iteration, where layers without a message between them count as one.
#include <cstdint>
#include <vector>

#include "layers/variability.hpp"
#include "programs/step/step.hpp"

namespace stepsim::programs {

// Lower bounds of the messages of one iteration, in seconds at exchange factor 1, whatever their
// order and partition (MER 3).
struct MessageBounds {
  std::uint32_t first_sender{}; // the layer whose backward makes the first bytes ready
  double first_layer_s = 0;     // time to send the bytes of layer 0; 0 if it has none
  double all_s = 0;             // time to send all bytes; 0 if there are none
};

// The four times before period_s are seconds from the start of the run, when the first forward
// begins.
struct VariedIteration {
  double start_s{};       // start of forward on the first worker
  double compute_end_s{}; // end of backward on the last worker
  double exchange_start_s{}, exchange_end_s{};
  double period_s{};     // = compute + exposed + input wait
  double compute_s{};    // the period if messages and loading of input took no time
  double input_wait_s{}; // delay of the last worker by loading, beyond compute and messages
  // Reduction of the period if messages took no time, with input always loaded in time. Waiting for
  // slower workers does not count as communication.
  double exposed_s{};
  // Lower bound of the period for every order and partition of messages, with the same random
  // factors and the same positions of the workers at the start of the period.
  double lower_bound_s{};
};

struct VariedWorker {
  double compute_s{};        // mean compute time c_w over the periods that are not discarded
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
  double straggler_wait_s{}; // also a mean over workers
  double makespan_s{};       // not a mean: end of the run, including the last messages and updates
};

// Simulates the iterations. The first `discard` < `iterations` are left out of the means.
[[nodiscard]] VariedSteps run_varied_steps(const StepInput& step, const layers::Jitter& jitter,
                                           std::int64_t iterations, std::int64_t discard,
                                           MessageBounds bounds = {});

} // namespace stepsim::programs
