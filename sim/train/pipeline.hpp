#pragma once
// Pipe-SGD and D-sync: every worker has a compute thread and a communication thread; iteration t
// waits for the exchange of iteration t - K (PIP 3.1, 7, 8). K = 1 is D-sync.
//
//   x = max(comp[t-1], comm[dep(t)]) + before         update, decode, load, forward
//   for each piece j: x += compute_j;  chan = max(chan, max over workers of x) + exchange_j
//   comp[t] = x;  comm[t] = chan;  makespan = comm[T]
//
// One piece = fused exchange. Times start at 0, iterations are numbered from 1. Compute times are
// multiplied by the worker's factor of the iteration, exchanges by that of the iteration.
#include <cstdint>
#include <optional>
#include <vector>

#include "train/variability.hpp"

namespace stepsim::train {

enum class WarmupSwitch { skip, block };

struct PipelinePiece { // of backward, in backward order
  double compute_s{};  // backward of its layers and encoding
  double exchange_s{}; // 0 = nothing to send
};

struct PipelineInput {
  std::int64_t iterations = 1;
  std::int64_t width = 1;                          // K >= 1; one worker forces 1
  std::int64_t warmup_iterations = 0;              // W
  WarmupSwitch warmup_switch = WarmupSwitch::skip; // block needs width 2
  std::uint32_t workers = 1;
  double application_s{}; // update and decode: the part of `before` that applies a gradient
  double forward_s{};     // forward (and loading): the rest of `before`
  std::vector<PipelinePiece> pieces; // at least one
  double compute_slowdown = 1;       // s >= 1: compute runs at rate 1/s while the channel is busy
  Variability variability;
};

struct PipelineIteration {
  double start_s{};       // first worker starts computing (after waiting)
  double compute_end_s{}; // last worker
  double exchange_start_s{}, exchange_end_s{};
  std::optional<std::int64_t> applied_gradient; // iteration whose gradient its step applies
};

struct PipelineWorker {
  double compute_s{};        // mean busy time per iteration
  double straggler_wait_s{}; // mean of max over workers of c_w[t], minus c_w[t]
};

struct PipelineTimes {
  std::vector<PipelineIteration> iterations;
  std::vector<PipelineWorker> workers;
  double period_s{};         // (comm[T] - comm[T/2]) / (T - T/2); T = 1: makespan
  double compute_s{};        // mean over iterations of the slowest worker's busy time
  double exposed_s{};        // max(0, period - compute)
  double makespan_s{};       // end of the last exchange
  double drained_s{};        // with the pending gradients applied (PIP 8)
  std::int64_t pending{};    // gradients not applied when the last step has run
  double straggler_wait_s{}; // mean over workers
};

[[nodiscard]] PipelineTimes run_pipeline(const PipelineInput& input);

// The iteration whose exchange step t waits for, and the gradient it applies (0: none, the
// optimizer step is skipped); PIP 8. t from 1.
struct PipelineStep {
  std::int64_t waits_for{};
  std::int64_t applies{};
};
[[nodiscard]] PipelineStep pipeline_step(std::int64_t t, std::int64_t width,
                                         std::int64_t warmup_iterations, WarmupSwitch how);

// Steady period of constant equal times: max(c, m, (c + m) / K). Source: PIP 4 (derived).
[[nodiscard]] double pipeline_period(double compute_s, double exchange_s, std::int64_t width);

} // namespace stepsim::train
