#include "layers/variability.hpp"

#include <cassert>
#include <cmath>
#include <numbers>

#include "base/collected.hpp"
#include "base/random.hpp"

namespace stepsim::layers {

namespace {

constexpr std::uint64_t kComputeStream = 16;
constexpr std::uint64_t kExchangeStream = 17;

// The draws of one sample: u01(seed, stream, worker, iteration, k), k = 0, 1, 2, ..
class Draws {
public:
  Draws(std::uint64_t seed, std::uint64_t stream, std::uint32_t worker, std::int64_t iteration)
      : prefix_(base::hash(seed, stream, worker, iteration)) {}
  // In [0, 1). hash(a, .., k) = mix(hash(a, ..) ^ k).
  double uniform() { return base::unit_interval(base::mix(prefix_ ^ k_++)); }
  double normal() { // Box and Muller's cosine
    const double radius = std::sqrt(-2 * std::log1p(-uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

private:
  std::uint64_t prefix_;
  std::uint64_t k_ = 0;
};

// Gamma with mean 1, by Marsaglia and Tsang (2000): d v with v = (1 + x / sqrt(9 d))^3, x normal,
// accepted with probability > 0.95. A shape below 1 is drawn as shape + 1 times u^(1 / shape).
double gamma_factor(Draws& draws, double cv) {
  const double scale = cv * cv;
  const double shape = 1 / scale;
  const double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3;
  constexpr int kAttempts = 64; // all refused: probability below 0.05^64
  double v = 1;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const double x = draws.normal();
    const double root = 1 + x / std::sqrt(9 * d);
    v = root * root * root;
    const double u = draws.uniform();
    if (v > 0 && std::log1p(-u) < 0.5 * x * x + d - d * v + d * std::log(v)) {
      break;
    }
  }
  const double boost = shape < 1 ? std::pow(1 - draws.uniform(), scale) : 1;
  return scale * d * v * boost;
}

double factor(const Variability& variability, double cv, double empirical_scale, Draws draws) {
  switch (variability.law) {
  case JitterLaw::lognormal: {
    const double variance = std::log1p(cv * cv);
    return std::exp(std::sqrt(variance) * draws.normal() - variance / 2);
  }
  case JitterLaw::uniform: {
    const double half_width = std::sqrt(3.0) * cv;
    assert(half_width <= 1 + 1e-6 && "uniform factors are not negative");
    return 1 + std::min(half_width, 1.0) * (2 * draws.uniform() - 1);
  }
  case JitterLaw::exponential:
    assert(cv == 1 && "exponential times vary by their mean");
    return -std::log1p(-draws.uniform());
  case JitterLaw::gamma:
    return gamma_factor(draws, cv);
  case JitterLaw::empirical: {
    const auto length = variability.factors.size();
    assert(length > 0 && "an empirical law has factors");
    const auto index = static_cast<std::size_t>(draws.uniform() * static_cast<double>(length));
    return variability.factors[std::min(index, length - 1)] * empirical_scale;
  }
  }
  return 1;
}

// What makes the mean of an empirical list 1.
double scale_of(const std::vector<double>& list) {
  return list.empty() ? 1 : static_cast<double>(list.size()) / base::sum_of<double>(list);
}

} // namespace

double least_factor(const Variability& variability, double cv) {
  if (cv <= 0) {
    return 1;
  }
  switch (variability.law) {
  case JitterLaw::uniform:
    return 1 - std::min(std::sqrt(3.0) * cv, 1.0);
  case JitterLaw::empirical:
    return *std::ranges::min_element(variability.factors) * scale_of(variability.factors);
  case JitterLaw::lognormal:
  case JitterLaw::exponential:
  case JitterLaw::gamma:
    return 0;
  }
  return 0;
}

Jitter::Jitter(const Variability& variability, std::uint32_t workers)
    : variability_(variability), workers_(workers) {
  stragglers_.resize(variability.stragglers.empty() ? 0 : workers, 1);
  for (const Straggler& straggler : variability.stragglers) {
    assert(straggler.worker < workers && straggler.factor > 0 && "a straggler is a worker");
    stragglers_[straggler.worker] = straggler.factor;
  }
  empirical_scale_ = scale_of(variability.factors);
}

double Jitter::compute(std::uint32_t worker, std::int64_t iteration) const {
  if (variability_.compute_cv <= 0) {
    return straggler(worker);
  }
  const auto place = static_cast<std::size_t>(iteration - 1) * workers_ + worker;
  if (place < kept_.size() && !std::isnan(kept_[place])) {
    return kept_[place];
  }
  const double drawn =
      straggler(worker) * factor(variability_, variability_.compute_cv, empirical_scale_,
                                 {variability_.seed, kComputeStream, worker, iteration});
  if (place < kMostKept) {
    if (place >= kept_.size()) {
      kept_.resize(std::min(kMostKept, 2 * place + workers_), std::nan(""));
    }
    kept_[place] = drawn;
  }
  return drawn;
}

double Jitter::exchange(std::int64_t iteration) const {
  if (variability_.exchange_cv <= 0) {
    return 1;
  }
  return factor(variability_, variability_.exchange_cv, empirical_scale_,
                {variability_.seed, kExchangeStream, 0, iteration});
}

} // namespace stepsim::layers
