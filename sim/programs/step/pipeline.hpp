#pragma once
// Simulates Pipe-SGD and D-sync (K = 1). Every worker has a compute thread and a communication
// thread; iteration t waits for the exchange of iteration t - K (PIP 3.1, 7, 8):
//
//   x = max(comp[t-1], comm[dep(t)]) + before         update, decode, load, forward
//   for each piece j: x += compute_j;
//       where exchange_j > 0: chan = max(chan, max over workers of x + delay_j) + exchange_j
//   comp[t] = x;  comm[t] = chan;  makespan = max(comm[T], last comp[T])
//
// comp[t] is the end of compute on a worker (the last comp[t]: on the slowest worker), chan the
// clock of the channel, comm[t] the end of exchange t, dep(t) the iteration for whose exchange step
// t waits (pipeline_step()), and T the number of iterations. With a single piece, all gradients are
// exchanged at once after backward. Times start at 0, iterations at 1. Compute times are multiplied
// by the factor of worker and iteration, exchanges by the factor of the iteration.
#include <cstdint>
#include <optional>
#include <vector>

#include "base/words.hpp"
#include "layers/staleness.hpp"
#include "layers/variability.hpp"

namespace stepsim::programs {

// The first steps after a warm-up. skip: K - 1 steps wait for nothing and apply nothing; block
// (K = 2): the first two both wait for the step before, and the second applies nothing.
enum class WarmupSwitch { skip, block };
inline constexpr auto kWarmupSwitches =
    base::words<WarmupSwitch>({{WarmupSwitch::skip, "skip"}, {WarmupSwitch::block, "block"}});

// The steps of a run, which alone decide which gradients are applied when.
struct PipelineSteps {
  std::int64_t iterations = 1;        // T
  std::int64_t width = 1;             // K >= 1
  std::int64_t warmup_iterations = 0; // W: that many first iterations run as with K = 1
  WarmupSwitch warmup_switch = WarmupSwitch::skip;
};

struct PipelinePiece { // a part of backward; pieces are in backward order
  double compute_s{};  // backward of its layers and encoding
  double exchange_s{}; // 0 = nothing to send
  double delay_s{};    // least time from compute to exchange: until the next cycle of Horovod
};

struct PipelineInput {
  std::int64_t iterations = 1;
  std::int64_t width = 1;                          // K >= 1
  std::int64_t warmup_iterations = 0;              // W
  WarmupSwitch warmup_switch = WarmupSwitch::skip; // block needs width 2
  std::uint32_t workers = 1;
  double application_s{}; // update and decode: the part of `before` that applies a gradient
  double forward_s{};     // forward (and loading): the rest of `before`
  std::vector<PipelinePiece> pieces{}; // at least one
  double compute_slowdown = 1;         // s >= 1: compute runs at rate 1/s while the channel is busy
  layers::Variability variability{};
};

// The compute time c and the exchange time m of one iteration, with mean times.
[[nodiscard]] double compute_seconds(const PipelineInput& input);
[[nodiscard]] double exchange_seconds(const PipelineInput& input);
// The width K that a run uses: 1 for one worker with nothing to exchange, so that no staleness is
// reported for it.
[[nodiscard]] std::int64_t effective_width(const PipelineInput& input);
[[nodiscard]] PipelineSteps pipeline_steps(const PipelineInput& input);

struct PipelineIteration {
  double start_s{};          // earliest start of compute on a worker (after waiting)
  double compute_end_s{};    // latest end of compute on a worker
  double exchange_start_s{}; // start of the first exchange; exchange_end_s if there is none
  double exchange_end_s{};
  std::optional<std::int64_t> applied_gradient; // iteration whose gradient its step applies
};

struct PipelineWorker {
  double compute_s{};        // mean busy time of iterations T/2 + 1 .. T, without the slowdown
  double straggler_wait_s{}; // PipelineTimes::compute_s less the worker's own compute_s
};

struct PipelineTimes {
  std::vector<PipelineIteration> iterations;
  std::vector<PipelineWorker> workers;
  // (end(T) - end(T/2)) / (T - T/2) with end(t) = max(comm[t], last comp[t]) and end(0) = 0 (PIP
  // 10). Part of the work of iterations T/2 + 1 .. T may have been done before end(T/2).
  double period_s{};
  // The computing of an iteration; where workers differ, the period of the same run with exchanges
  // that take no time (TRN 2.6). At most the period.
  double compute_s{};
  double exposed_s{};  // period - compute; includes the cost of compute_slowdown
  double exchange_s{}; // mean time of the exchanges of iterations T/2 + 1 .. T
  double makespan_s{}; // end of the last exchange and of compute
  // The end of the run if the pending gradients are applied, too: on every worker, one after the
  // other as they arrive (PIP 8), at mean times multiplied by the factors of stragglers.
  double drained_s{};
  std::int64_t pending{};    // gradients that are not applied after the last step
  double straggler_wait_s{}; // mean over workers
};

// Simulates the run in O(iterations x workers x pieces).
[[nodiscard]] PipelineTimes run_pipeline(const PipelineInput& input);

// The iteration for whose exchange step t waits, and the iteration whose gradient it applies (0:
// none, and the optimizer step is skipped); PIP 8. t begins at 1.
struct PipelineStep {
  std::int64_t waits_for{};
  std::int64_t applies{};
};
[[nodiscard]] PipelineStep pipeline_step(std::int64_t t, std::int64_t width,
                                         std::int64_t warmup_iterations, WarmupSwitch how);

[[nodiscard]] PipelineStep pipeline_step(const PipelineSteps& steps, std::int64_t t);

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
  const double limit = (1 + tolerance) * period_s(max_width);
  std::int64_t width = 1;
  while (width < max_width && period_s(width) > limit) {
    ++width;
  }
  return width;
}

} // namespace stepsim::programs
