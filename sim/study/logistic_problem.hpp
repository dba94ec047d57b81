#pragma once
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

} // namespace stepsim::study
