// Data, batches and labels are drawn by counters, so that a sample is the same whoever asks for it
// and in whatever order. Features are stored as the numbers of the words that a sample has, so that
// a gradient touches few rows.
#include "study/converge.hpp"

#include <cmath>
#include <numbers>

#include "base/random.hpp"

namespace stepsim::study {

namespace {

constexpr std::uint64_t kDataStream = 18;
constexpr std::uint64_t kBatchStream = 20;
enum Purpose : std::uint64_t { kTeacher, kWords, kLabel };

// z becomes softmax(z); returns log(sum exp(z)).
// The largest entry is taken off first; otherwise exp overflows from about 710 on.
double softmax(std::span<double> z) {
  const double largest = *std::ranges::max_element(z);
  double sum = 0;
  for (double& each : z) {
    each = std::exp(each - largest);
    sum += each;
  }
  for (double& each : z) {
    each /= sum;
  }
  return largest + std::log(sum);
}

// Box and Muller's method. log1p(-u) instead of log(u), because u may be 0 and is never 1.
double normal(double u, double v) {
  return std::sqrt(-2 * std::log1p(-u)) * std::cos(2 * std::numbers::pi * v);
}

} // namespace

LogisticProblem::LogisticProblem(const LogisticOptions& options)
    : options_(options), value_(1 / std::sqrt(static_cast<double>(options.words))) {
  assert(options.samples > 0 && options.features > 0 && options.classes > 1 && options.words > 0 &&
         "a problem has samples, features and classes");
  std::vector<double> teacher(parameters());
  for (std::size_t i = 0; i < teacher.size(); ++i) {
    teacher[i] =
        options.teacher_scale * normal(base::u01(options.seed, kDataStream, kTeacher, i, 0),
                                       base::u01(options.seed, kDataStream, kTeacher, i, 1));
  }
  features_.reserve(std::size_t{options.samples} * options.words);
  labels_.reserve(options.samples);
  std::vector<double> z(options.classes);
  for (std::uint32_t n = 0; n < options.samples; ++n) {
    for (std::uint32_t word = 0; word < options.words; ++word) {
      // (F + 1)^u - 1 below j has probability log(j + 1) / log(F + 1).
      const double u = base::u01(options.seed, kDataStream, kWords, n, word);
      const double place = std::pow(options.features + 1.0, u) - 1;
      features_.push_back(std::min(static_cast<std::uint32_t>(place), options.features - 1));
    }
    logits(teacher, n, z);
    softmax(z);
    double left = base::u01(options.seed, kDataStream, kLabel, n);
    // The label is drawn from the distribution and is not its largest entry, so that no weights
    // reach a loss of 0.
    std::uint32_t label = 0;
    while (label + 1 < options.classes && left >= z[label]) {
      left -= z[label++];
    }
    labels_.push_back(label);
  }
}

std::size_t LogisticProblem::parameters() const {
  return (std::size_t{options_.features} + 1) * options_.classes;
}

void LogisticProblem::logits(std::span<const double> weights, std::uint32_t sample,
                             std::span<double> z) const {
  const std::size_t classes = options_.classes;
  const double* bias = weights.data() + std::size_t{options_.features} * classes;
  std::copy_n(bias, classes, z.begin());
  const std::uint32_t* words = features_.data() + std::size_t{sample} * options_.words;
  for (std::uint32_t word = 0; word < options_.words; ++word) {
    const double* row = weights.data() + words[word] * classes;
    for (std::size_t c = 0; c < classes; ++c) {
      z[c] += value_ * row[c];
    }
  }
}

double LogisticProblem::loss(std::span<const double> weights) const {
  std::vector<double> z(options_.classes);
  double sum = 0;
  for (std::uint32_t n = 0; n < options_.samples; ++n) {
    logits(weights, n, z);
    const double of_label = z[labels_[n]];
    sum += softmax(z) - of_label;
  }
  return sum / options_.samples;
}

std::vector<double> LogisticProblem::gradient(std::span<const double> weights,
                                              std::span<const std::uint32_t> samples) const {
  const std::size_t classes = options_.classes;
  std::vector<double> gradient(parameters());
  std::vector<double> z(classes);
  const double share = 1 / static_cast<double>(samples.size());
  double* bias = gradient.data() + std::size_t{options_.features} * classes;
  for (const std::uint32_t sample : samples) {
    logits(weights, sample, z);
    softmax(z);
    z[labels_[sample]] -= 1; // d loss / d z
    for (std::size_t c = 0; c < classes; ++c) {
      bias[c] += share * z[c];
    }
    const std::uint32_t* words = features_.data() + std::size_t{sample} * options_.words;
    for (std::uint32_t word = 0; word < options_.words; ++word) {
      double* row = gradient.data() + words[word] * classes;
      for (std::size_t c = 0; c < classes; ++c) {
        row[c] += share * value_ * z[c];
      }
    }
  }
  return gradient;
}

// Drawn with replacement by (worker, iteration, place), so that two algorithms compute on the same
// batches and differ only in when they apply the gradients.
std::vector<std::uint32_t> LogisticProblem::mini_batch(std::uint32_t worker, std::uint32_t workers,
                                                       std::int64_t iteration,
                                                       std::uint32_t size) const {
  assert(worker < workers && workers <= options_.samples && "every worker has samples");
  const std::uint64_t held = (options_.samples - worker + workers - 1) / workers;
  std::vector<std::uint32_t> batch;
  for (std::uint32_t j = 0; j < size; ++j) {
    const std::uint64_t h = base::hash(options_.seed, kBatchStream, worker, iteration, j);
    batch.push_back(worker + workers * static_cast<std::uint32_t>(base::pick(h, held)));
  }
  return batch;
}

} // namespace stepsim::study
