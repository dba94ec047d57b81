#pragma once
// Pipe-SGD and D-sync: every worker has a compute thread and a communication thread; iteration t
// waits for the exchange of iteration t - K (PIP 3.1, 7, 8). K = 1 is D-sync.
//
//   x = max(comp[t-1], comm[dep(t)]) + before         update, decode, load, forward
//   for each piece j: x += compute_j;
//       where exchange_j > 0: chan = max(chan, max over workers of x + delay_j) + exchange_j
//   comp[t] = x;  comm[t] = chan;  makespan = max(comm[T], last comp[T])
//
// comp[t] is the end of computing of a worker, the last comp[t] that of the slowest worker, chan
// the clock of the channel, comm[t] the end of exchange t, dep(t) the iteration whose exchange step
// t waits for (pipeline_step), T the number of iterations. A single piece means that all gradients
// are exchanged at once after backward. Times start at 0, iterations at 1. Compute times are
// multiplied by the factor of worker and iteration, exchanges by the factor of the iteration.
#include <cstdint>
#include <optional>
#include <vector>

#include "base/words.hpp"
#include "train/workload/staleness.hpp"
#include "train/workload/variability.hpp"

namespace stepsim::train {

// The first steps after a warm-up. skip: K - 1 steps wait for nothing and apply nothing; block
// (K = 2): the first two both wait for the step before, and the second applies nothing.
enum class WarmupSwitch { skip, block };
inline constexpr auto kWarmupSwitches =
    base::words<WarmupSwitch>({{WarmupSwitch::skip, "skip"}, {WarmupSwitch::block, "block"}});

struct PipelinePiece { // of backward, in backward order
  double compute_s{};  // backward of its layers and encoding
  double exchange_s{}; // 0 = nothing to send
  double delay_s{};    // sent no earlier than this after computing: until the next tick of horovod
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
  Variability variability{};
};

// c, computing, and m, exchanging, of one iteration with mean times.
[[nodiscard]] double compute_seconds(const PipelineInput& input);
[[nodiscard]] double exchange_seconds(const PipelineInput& input);
// K that a run uses: 1 for one worker with nothing to exchange (no staleness is claimed there).
[[nodiscard]] std::int64_t effective_width(const PipelineInput& input);

struct PipelineIteration {
  double start_s{};          // first worker starts computing (after waiting)
  double compute_end_s{};    // last worker
  double exchange_start_s{}; // start of the first piece that sends; exchange_end_s if none does
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
  // (end(T) - end(T/2)) / (T - T/2) with end(t) = max(comm[t], last comp[t]) and end(0) = 0; with
  // random factors not less than what the busiest worker and the channel do for iterations
  // T/2 + 1 .. T, which is longer where some of it was done before end(T/2).
  double period_s{};
  // Mean over iterations T/2 + 1 .. T of the slowest worker's busy time; at most the period,
  // because workers that run ahead make up for their slow iterations.
  double compute_s{};
  double exposed_s{};  // period - compute; what a slowdown costs is in it
  double makespan_s{}; // end of the last exchange and of computing
  // The pending gradients applied as well: on every worker, one after the other as they arrive
  // (PIP 8), at mean times; stragglers take longer.
  double drained_s{};
  std::int64_t pending{};    // gradients not applied when the last step has run
  double straggler_wait_s{}; // mean over workers
};

// O(iterations x workers x pieces) time.
[[nodiscard]] PipelineTimes run_pipeline(const PipelineInput& input);

// The iteration whose exchange step t waits for, and the gradient it applies (0: none, the
// optimizer step is skipped); PIP 8. t from 1.
struct PipelineStep {
  std::int64_t waits_for{};
  std::int64_t applies{};
};
[[nodiscard]] PipelineStep pipeline_step(std::int64_t t, std::int64_t width,
                                         std::int64_t warmup_iterations, WarmupSwitch how);

// Staleness of the gradients applied in steps 1..T; with `drain` also of the pending gradients.
[[nodiscard]] StalenessCounts pipeline_staleness(const PipelineInput& input, bool drain);

// Period with constant equal times: c + m for K = 1, max(c, m) for K >= 2 (then (c + m) / K is
// never larger). With a slowdown s (K >= 2): max(m, c + m (1 - 1/s)). Source: PIP 4, 12 (derived).
[[nodiscard]] double pipeline_period(double compute_s, double exchange_s, std::int64_t width,
                                     double compute_slowdown = 1);

// The smallest width whose simulated period is at most (1 + tolerance) times that of `max_width`,
// with the same random factors, without warm-up (PIP 10).
struct WidthPoint {
  std::int64_t width{};
  double period_s{};
  std::int64_t staleness{}; // K - 1
};
struct WidthChoice {
  std::int64_t width{};
  std::vector<WidthPoint> curve; // width 1..max_width
};
[[nodiscard]] WidthChoice choose_width(PipelineInput input, std::int64_t max_width,
                                       double tolerance);

} // namespace stepsim::train
