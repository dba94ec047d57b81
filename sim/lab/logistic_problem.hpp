#pragma once
// A small problem that can be trained for real: multinomial logistic regression on generated data.
// It stands for a big model where the question is how an algorithm's updates differ, not what a
// network learns.
//
//   sample   `words` features drawn from `features` with p(j) ~ 1 / (j + 1), as words of a text;
//            each adds 1 / sqrt(words) to x_j; one constant feature 1 (bias)
//   label    drawn from softmax(W* x), W* standard normal times `teacher_scale`: even the best
//            weights leave some loss
//   loss     mean over all samples of log(sum_c exp(z_c)) - z_label, z = W x; ln(classes) at W = 0
//
// Everything is a function of the seed (base::u01, streams 18 data and 20 mini-batches).
// Weights are stored [feature][class], the bias last.
#include <cstdint>
#include <span>
#include <vector>

namespace stepsim::study {

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
  // Exact, over all samples. Infinite or NaN where the weights are.
  [[nodiscard]] double loss(std::span<const double> weights) const;
  // Mean gradient over the given samples.
  [[nodiscard]] std::vector<double> gradient(std::span<const double> weights,
                                             std::span<const std::uint32_t> samples) const;
  // Worker w of P holds the samples w, w + P, ..; a mini-batch is drawn from them with replacement.
  // P <= samples (asserted). iteration from 1.
  [[nodiscard]] std::vector<std::uint32_t> mini_batch(std::uint32_t worker, std::uint32_t workers,
                                                      std::int64_t iteration,
                                                      std::uint32_t size) const;

private:
  // z = W x of one sample.
  void logits(std::span<const double> weights, std::uint32_t sample, std::span<double> z) const;

  LogisticOptions options_;
  double value_{};                      // 1 / sqrt(words)
  std::vector<std::uint32_t> features_; // [sample][word]
  std::vector<std::uint32_t> labels_;   // [sample]
};

} // namespace stepsim::study
