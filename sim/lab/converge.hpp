#pragma once
// What the updates of an algorithm do to training, on problems small enough to be solved for real:
// which gradient each step applies, how stale, made how sparse. The bookkeeping is that of the
// simulator (train::pipeline_step, train::run_async), the operators are those of coll.
//
//   quadratic   w[0] = 1, w[t] = w[t-1] - x g[i], x the step, g[i] = w[i], i the iteration whose
//               gradient step t applies (t - K once the pipeline of width K is full; a step that
//               applies none leaves w as it is). Stable iff x < 2 cos((K-1) pi / (2K-1)), which is
//               2, 1 and 0.618 for K = 1, 2 and 3
//   logistic    w[t] = w[t-1] - eta (mean over workers of the gradients of iteration i), eta the
//               learning rate
//
// Iterations from 1 to T. Source: PIP 11 (derived).
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "coll/compress/compression.hpp"
#include "lab/logistic_problem.hpp"
#include "train/step/parameter_server.hpp"
#include "train/step/pipeline.hpp"

namespace stepsim::study {

// K, W and the switch of `pipe_sgd`; K = 1 is synchronous.
struct Staleness {
  std::int64_t width = 1;
  std::int64_t warmup_iterations = 0;
  train::WarmupSwitch warmup_switch = train::WarmupSwitch::skip;
};

struct QuadraticRun {
  // [t - 1]: iteration whose gradient step t applies, from 0 as in a result; empty = skipped step.
  std::vector<std::optional<std::int64_t>> applied_gradient;
  double final_distance{}; // |w[T]|, from |w[0]| = 1
  double earlier{};        // largest |w| in the second quarter of the run; T < 4: at the start
  double largest{};        // largest |w| in the last quarter
  // `largest` is below `earlier`. A run that grows beyond 1e100 ends there and has not converged.
  bool converged{};
  [[nodiscard]] bool grows() const; // `largest` is above `earlier`
};
// `step`: x; `iterations`: T >= 1 (asserted).
[[nodiscard]] QuadraticRun converge_quadratic(const Staleness& staleness, double step,
                                              std::int64_t iterations);
// The step x from which on a width is unstable: 2 cos((K-1) pi / (2K-1)).
[[nodiscard]] double stability_limit(std::int64_t width);

struct Learning {
  std::uint32_t workers = 1;
  std::int64_t iterations = 1;
  double learning_rate = 1;
  std::uint32_t batch = 8; // samples per worker and iteration
  Staleness staleness{};
  // none, truncate16, quantize8 (inside the ring; with `server`: pushes and the sum), topk, gtopk_*
  // (with error feedback; `density` or `k` of the small problem's parameters).
  coll::Compression compression{};
  bool server = false; // synchronous parameter server instead of a ring
};

// Whether `learn` can apply the method: coll has an operator for it that works on real numbers.
[[nodiscard]] bool has_operator(coll::CompressionMethod method);

// [t] = loss of the weights on which iteration t + 1 computes, t = 0..T: [0] is the start. Ends
// early, with the last finite loss, where the weights leave the range of numbers.
[[nodiscard]] std::vector<double> learn(const LogisticProblem& problem, const Learning& learning);

// Updates of an asynchronous parameter server in their order: worker w of P computes its gradient
// on the weights as of its own previous update, and the server subtracts eta / P of it. (So P
// updates move the weights as far as one synchronous iteration.) [i] = loss after i P updates; ends
// early as `learn` does. Compression none (asserted).
[[nodiscard]] std::vector<double> learn_async(const LogisticProblem& problem,
                                              const Learning& learning,
                                              std::span<const train::AsyncUpdate> updates);

} // namespace stepsim::study
