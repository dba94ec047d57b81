#pragma once
// Trains two small problems for real, to show how stale or sparse gradients change convergence. The
// simulator's own code decides which gradient each step applies (programs::pipeline_step,
// programs::run_async) and compresses the gradients (collectives/operators). Iterations are
// numbered 1 to T; i is the iteration whose gradient step t applies: t - K once a pipeline of width
// K is full.
//
//   quadratic   w[0] = 1, w[t] = w[t-1] - x g[i] with step x and g[i] = w[i]. A step that applies
//               no gradient leaves w unchanged. Stable if and only if
//               x < 2 cos((K-1) pi / (2K-1)), which is 2, 1 and 0.618 for K = 1, 2 and 3
//   logistic    w[t] = w[t-1] - eta (mean over workers of the gradients of iteration i), with
//               learning rate eta
//
// Source: PIP 11 (derived).

#include "collectives/compress/compression.hpp"
#include "programs/step/parameter_server.hpp"
#include "programs/step/pipeline.hpp"

namespace stepsim::study {

// A small problem that can be trained for real: multinomial logistic regression on generated data.
// It replaces a large model when the question is how the updates of algorithms differ, not what a
// model learns.
//
//   sample   `words` draws among `features` features with p(j) ~ 1 / (j + 1), like words of a text;
//            each adds 1 / sqrt(words) to x_j; one more feature is always 1 (bias)
//   label    drawn from softmax(W* x) with W* standard normal times `teacher_scale`, so that even
//            the best weights leave some loss
//   loss     mean over all samples of log(sum_c exp(z_c)) - z_label, z = W x; ln(classes) at W = 0
//
// Everything is a function of the seed (base::u01, stream 18 for data and 20 for mini-batches).
// Weights are stored as [feature][class], the bias last.

struct LogisticOptions {
  std::uint32_t samples = 2048;
  std::uint32_t features = 200;
  std::uint32_t classes = 10;
  std::uint32_t words = 16;
  double teacher_scale = 6;
  std::uint64_t seed = 1;
};

class LogisticProblem {
public:
  explicit LogisticProblem(const LogisticOptions& options);

  [[nodiscard]] std::size_t parameters() const;
  [[nodiscard]] std::uint32_t samples() const { return options_.samples; }
  // The loss over all samples. Infinite or NaN if a weight is.
  [[nodiscard]] double loss(std::span<const double> weights) const;
  // The mean gradient over the given samples, in the layout of the weights.
  [[nodiscard]] std::vector<double> gradient(std::span<const double> weights,
                                             std::span<const std::uint32_t> samples) const;
  // The samples of a mini-batch, drawn with replacement from the worker's own samples: worker w of
  // P has the samples w, w + P, .. `workers` is P <= samples (asserted); `iteration` begins at 1.
  [[nodiscard]] std::vector<std::uint32_t> mini_batch(std::uint32_t worker, std::uint32_t workers,
                                                      std::int64_t iteration,
                                                      std::uint32_t size) const;

private:
  // Computes z = W x of one sample.
  void logits(std::span<const double> weights, std::uint32_t sample, std::span<double> z) const;

  LogisticOptions options_;
  double value_{};                      // 1 / sqrt(words)
  std::vector<std::uint32_t> features_; // [sample][word]
  std::vector<std::uint32_t> labels_;   // [sample]
};

// The pipeline of `pipe_sgd`: width K and the warm-up. K = 1 is synchronous training.
struct Staleness {
  std::int64_t width = 1;
  std::int64_t warmup_iterations = 0;
  programs::WarmupSwitch warmup_switch = programs::WarmupSwitch::skip;
};

struct QuadraticRun {
  // [t - 1]: iteration whose gradient step t applies, numbered from 0 as in results; empty if step
  // t applies none.
  std::vector<std::optional<std::int64_t>> applied_gradient;
  double final_distance{}; // |w[T]|; |w[0]| is 1
  double earlier{};        // largest |w| in the second quarter of the run; |w[0]| if T < 4
  double largest{};        // largest |w| in the last quarter
  // Whether `largest` is below `earlier`, or 0. A run whose |w| exceeds 1e100 ends early and has
  // not converged.
  bool converged{};
  [[nodiscard]] bool grows() const; // whether `largest` is above `earlier`
};
// Runs the quadratic problem with x = `step` for T = `iterations` >= 1 (asserted).
[[nodiscard]] QuadraticRun converge_quadratic(const Staleness& staleness, double step,
                                              std::int64_t iterations);
// The smallest step x that is not stable at this width K: 2 cos((K-1) pi / (2K-1)).
[[nodiscard]] double stability_limit(std::int64_t width);

struct Learning {
  std::uint32_t workers = 1;
  std::int64_t iterations = 1;
  double learning_rate = 1;
  std::uint32_t batch = 8; // samples per worker and iteration
  Staleness staleness{};
  // A method with has_operator(). truncate16 and quantize8 are applied inside the ring or, with
  // `server`, to the pushes and to the sum. topk and gtopk_* use error feedback, and `density` or
  // `k` refers to the parameters of the small problem.
  collectives::Compression compression{};
  bool server = false; // synchronous parameter server instead of a ring
};

// Whether learn() can apply the method: there is an operator for it that works on real numbers.
[[nodiscard]] bool has_operator(collectives::CompressionMethod method);

// Trains the problem and returns the losses: [t], t = 0..T, is the loss of the weights with which
// iteration t + 1 computes, so that [0] is the loss at the start. If the weights overflow, the list
// ends early, with the last finite loss.
[[nodiscard]] std::vector<double> learn(const LogisticProblem& problem, const Learning& learning);

// Trains the problem with an asynchronous parameter server, which applies `updates` in their order.
// Each of the P workers computes its gradient on the weights right after its own previous update,
// and the server subtracts eta / P times the gradient, so that P updates move the weights as far as
// one synchronous iteration. [i] is the loss after i P updates; the list ends early as in learn().
// The compression must be none (asserted).
[[nodiscard]] std::vector<double> learn_async(const LogisticProblem& problem,
                                              const Learning& learning,
                                              std::span<const programs::AsyncUpdate> updates);

} // namespace stepsim::study
