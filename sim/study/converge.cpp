// Two problems, one loop: the bookkeeping of the simulator says which gradient a step applies, and
// the problem says what that does to its weights. Gradients that wait lie in a ring of K slots,
// since a step never applies one that is more than K iterations old.

#include "study/converge.hpp"

#include "base/collected.hpp"
#include "base/random.hpp"
#include "collectives/operators/codecs.hpp"
#include "collectives/operators/error_feedback.hpp"

#include <cmath>
#include <numbers>

namespace stepsim::study {

namespace {

constexpr double kSteady = 1e-9; // of a bounded oscillation that neither shrinks nor grows

using collectives::CompressionMethod;
using Vector = std::vector<double>;

// Steps 1..T of any training: apply(slot) what the bookkeeping says, then compute(t, slot). A slot
// holds the gradient of one iteration until it is applied. Stops when compute returns false.
template <class Apply, class Compute>
void for_each_step(const Staleness& staleness, std::int64_t iterations, Apply apply,
                   Compute compute) {
  const std::int64_t width = std::min(staleness.width, iterations);
  const auto slots = static_cast<std::size_t>(width);
  for (std::int64_t t = 1; t <= iterations; ++t) {
    const std::int64_t applied =
        programs::applied_gradient(t, width, staleness.warmup_iterations, staleness.warmup_switch);
    apply(applied, static_cast<std::size_t>(applied) % slots);
    if (!compute(t, static_cast<std::size_t>(t) % slots)) {
      return;
    }
  }
}

// Codecs and sparse methods that have an operator on real numbers; for the others the simulator
// only knows sizes and times.
std::optional<collectives::Codec> codec_of(CompressionMethod method) {
  return method == CompressionMethod::truncate16  ? std::optional(collectives::Codec::truncate16)
         : method == CompressionMethod::quantize8 ? std::optional(collectives::Codec::quantize8)
                                                  : std::nullopt;
}

std::optional<collectives::SparseMethod> sparse_of(CompressionMethod method) {
  return collectives::kSparseMethods.find(collectives::row(method).name);
}

// Codecs work on 32-bit floats, as on a device; the rest of the training is in double precision.
std::vector<float> as_floats(const Vector& values) { return {values.begin(), values.end()}; }

// From the gradients of all workers to the mean that everybody applies.
class GradientExchange {
public:
  explicit GradientExchange(const Learning& learning)
      : learning_(learning), residuals_(learning.workers) {}

  // index from 0.
  [[nodiscard]] Vector mean(const std::vector<Vector>& gradients, std::int64_t index) {
    const CompressionMethod method = learning_.compression.method;
    if (const auto sparse = sparse_of(method)) {
      return sparse_mean(*sparse, gradients, index);
    }
    if (const auto codec = codec_of(method)) {
      return coded_mean(*codec, gradients);
    }
    Vector sum(gradients.front().size());
    for (const Vector& gradient : gradients) {
      for (std::size_t i = 0; i < sum.size(); ++i) {
        sum[i] += gradient[i];
      }
    }
    return divided(std::move(sum));
  }

private:
  [[nodiscard]] Vector divided(Vector sum) const {
    for (double& each : sum) {
      each /= learning_.workers;
    }
    return sum;
  }

  // In a ring partial sums are coded again on every hop, at a server each push once and the sum
  // once, so that errors of fewer codings add up.
  [[nodiscard]] Vector coded_mean(collectives::Codec codec,
                                  const std::vector<Vector>& gradients) const {
    const auto parts = base::collected<std::vector<float>>(gradients, as_floats);
    if (!learning_.server) {
      const std::vector<float> sum = collectives::ring_allreduce(parts, codec).front();
      return divided({sum.begin(), sum.end()});
    }
    std::vector<float> sum(parts.front().size());
    for (const std::vector<float>& part : parts) { // decoded at the server, the sum encoded once
      const std::vector<float> pushed = collectives::decode(collectives::encode(codec, part));
      for (std::size_t i = 0; i < sum.size(); ++i) {
        sum[i] += pushed[i];
      }
    }
    const std::vector<float> pulled = collectives::decode(collectives::encode(codec, sum));
    return divided({pulled.begin(), pulled.end()});
  }

  // What is not sent stays in the residual of its worker and is added to the next gradient (error
  // feedback), so that it is late and not lost.
  [[nodiscard]] Vector sparse_mean(collectives::SparseMethod method,
                                   const std::vector<Vector>& gradients, std::int64_t index) {
    const auto parameters = gradients.front().size();
    collectives::Compression compression = learning_.compression;
    if (const auto density = collectives::density_at(compression, index)) {
      compression.density = density;
    }
    const auto k = static_cast<std::uint32_t>(
        collectives::selected_entries(compression, static_cast<std::int64_t>(parameters)));
    const auto sparse = base::collected<collectives::SparseVector>(
        gradients, [](const Vector& gradient) { return collectives::to_sparse(gradient); });
    collectives::FeedbackStep step =
        collectives::error_feedback_step(sparse, residuals_, method, k, compression.residual_mask);
    residuals_ = step.outcome().residuals;
    return collectives::to_dense(step.update, parameters);
  }

  const Learning& learning_;
  std::vector<collectives::SparseVector> residuals_; // [worker]
};

void subtract(Vector& weights, double rate, const Vector& gradient) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] -= rate * gradient[i];
  }
}

// Data, batches and labels are drawn by counters, so that a sample is the same whoever asks for it
// and in whatever order. Features are stored as the numbers of the words that a sample has, so that
// a gradient touches few rows.

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

// Stability is judged by the largest distance in two quarters of the run and not by its end,
// because an oscillation passes through zero.
QuadraticRun converge_quadratic(const Staleness& staleness, double step, std::int64_t iterations) {
  assert(iterations >= 1 && "a run has iterations");
  constexpr double kDiverged = 1e100;
  QuadraticRun run;
  double weight = 1;
  std::vector<double> gradients(static_cast<std::size_t>(std::min(staleness.width, iterations)));
  bool finite = true;
  for_each_step(
      staleness, iterations,
      [&](std::int64_t gradient, std::size_t slot) {
        run.applied_gradient.push_back(gradient > 0 ? std::optional(gradient - 1) : std::nullopt);
        if (gradient > 0) {
          weight -= step * gradients[slot];
        }
      },
      [&](std::int64_t t, std::size_t slot) {
        gradients[slot] = weight; // of w^2 / 2, the curvature is in the step
        const double distance = std::abs(weight);
        if (4 * t > iterations && 2 * t <= iterations) {
          run.earlier = std::max(run.earlier, distance);
        } else if (4 * t > 3 * iterations) {
          run.largest = std::max(run.largest, distance);
        }
        finite = distance < kDiverged;
        return finite;
      });
  run.final_distance = std::abs(weight);
  // Such a run is compared with its start.
  if (iterations < 4) { // no quarters
    run.earlier = 1;
  }
  run.largest = finite ? run.largest : run.final_distance;
  run.converged = run.largest < (1 - kSteady) * run.earlier || run.largest == 0;
  return run;
}

bool QuadraticRun::grows() const { return largest > (1 + kSteady) * earlier; }

// The characteristic equation z^K - z^(K-1) + x = 0 has its roots inside the unit circle exactly
// for x below this value (PIP 11).
double stability_limit(std::int64_t width) {
  const auto k = static_cast<double>(width);
  return 2 * std::cos((k - 1) * std::numbers::pi / (2 * k - 1));
}

bool has_operator(CompressionMethod method) {
  return method == CompressionMethod::none || codec_of(method) || sparse_of(method);
}

// One iteration more than asked for is begun, since the loss after the last update is taken at its
// start.
std::vector<double> learn(const LogisticProblem& problem, const Learning& learning) {
  assert(has_operator(learning.compression.method) && "only what can be done on real numbers");
  Vector weights(problem.parameters());
  GradientExchange exchange(learning);
  const std::int64_t steps = learning.iterations + 1; // the last only applies
  std::vector<Vector> pending(static_cast<std::size_t>(std::min(learning.staleness.width, steps)));
  std::vector<Vector> gradients(learning.workers);
  std::vector<double> losses;
  for_each_step(
      learning.staleness, steps,
      [&](std::int64_t gradient, std::size_t slot) {
        if (gradient > 0) {
          subtract(weights, learning.learning_rate, pending[slot]);
        }
      },
      [&](std::int64_t t, std::size_t slot) {
        const double loss = problem.loss(weights);
        if (!std::isfinite(loss)) {
          return false;
        }
        losses.push_back(loss);
        if (t == steps) {
          return false;
        }
        for (std::uint32_t w = 0; w < learning.workers; ++w) {
          gradients[w] =
              problem.gradient(weights, problem.mini_batch(w, learning.workers, t, learning.batch));
        }
        pending[slot] = exchange.mean(gradients, t - 1);
        return true;
      });
  return losses;
}

// Rate over workers: a server adds the gradients one by one, and P of them make one synchronous
// step.
std::vector<double> learn_async(const LogisticProblem& problem, const Learning& learning,
                                std::span<const programs::AsyncUpdate> updates) {
  assert(learning.compression.method == CompressionMethod::none && "a server adds what is pushed");
  Vector weights(problem.parameters());
  std::vector<Vector> read(learning.workers, weights); // what each worker computes on
  std::vector<std::int64_t> iteration(learning.workers);
  std::vector<double> losses{problem.loss(weights)};
  const double rate = learning.learning_rate / learning.workers;
  for (std::size_t i = 0; i < updates.size(); ++i) {
    const std::uint32_t w = updates[i].worker;
    const auto batch = problem.mini_batch(w, learning.workers, ++iteration[w], learning.batch);
    subtract(weights, rate, problem.gradient(read[w], batch));
    read[w] = weights;
    if ((i + 1) % learning.workers == 0) {
      losses.push_back(problem.loss(weights));
      if (!std::isfinite(losses.back())) {
        losses.pop_back();
        break;
      }
    }
  }
  return losses;
}

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
