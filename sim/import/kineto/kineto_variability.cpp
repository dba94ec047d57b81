#include "import/kineto/kineto_variability.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/statistics.hpp"

namespace stepsim::io {

namespace {

constexpr std::size_t kMostFactors = 1000;

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Relative to the mean.
double spread_of(const std::vector<double>& values) {
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values) {
    squares += (value - mean) * (value - mean);
  }
  return mean > 0 ? std::sqrt(squares / static_cast<double>(values.size())) / mean : 0;
}

std::vector<double> compute_times(const KinetoRank& rank) {
  std::vector<double> times;
  for (const std::size_t i : rank.used) {
    times.push_back(static_cast<double>(rank.steps[i].times.compute()));
  }
  return times;
}

// The middles of equal parts of the sorted list.
std::vector<double> quantiles(const std::vector<double>& sorted) {
  if (sorted.size() <= kMostFactors) {
    return sorted;
  }
  std::vector<double> kept;
  for (std::size_t i = 0; i < kMostFactors; ++i) {
    kept.push_back(sorted[(2 * i + 1) * sorted.size() / (2 * kMostFactors)]);
  }
  return kept;
}

} // namespace

MeasuredVariability measured_variability(std::span<const KinetoRank> ranks) {
  MeasuredVariability result;
  result.block.law = layers::JitterLaw::empirical;
  std::vector<std::vector<double>> times;
  std::vector<double> medians;
  std::size_t steps = ranks.front().used.size();
  for (const KinetoRank& rank : ranks) {
    times.push_back(compute_times(rank));
    medians.push_back(base::median(times.back()));
    steps = std::min(steps, rank.used.size());
  }
  const double middle = base::median(medians);
  if (middle <= 0) {
    result.notes.emplace_back("no computing on the device: nothing varies");
    return result;
  }
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    result.rank_factors.push_back(medians[r] / middle);
    const double off = std::abs(result.rank_factors[r] - 1);
    if (ranks.size() >= 2 && steps >= 3 && off > 0.02 && off > 2 * spread_of(times[r])) {
      const auto worker = ranks[r].rank.value_or(static_cast<std::int64_t>(r));
      result.block.stragglers.push_back(
          {static_cast<std::uint32_t>(worker), result.rank_factors[r]});
      for (double& time : times[r]) {
        time /= result.rank_factors[r];
      }
    }
  }
  std::vector<double> factors;
  for (const std::vector<double>& each : times) {
    factors.insert(factors.end(), each.begin(), each.end());
  }
  const double mean = mean_of(factors);
  for (double& factor : factors) {
    factor /= mean;
  }
  std::ranges::sort(factors);
  result.block.compute_cv = spread_of(factors);
  result.block.factors = quantiles(factors);
  if (ranks.size() == 1) {
    result.notes.emplace_back(
        "one rank: the factors are those of its steps; ranks are not compared");
  }
  return result;
}

} // namespace stepsim::io
