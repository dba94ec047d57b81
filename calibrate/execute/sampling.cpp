#include "calibrate/execute/sampling.hpp"

#include <array>
#include <cassert>
#include <cmath>
#include <ctime>
#include <limits>
#include <numeric>

#include "base/collected.hpp"
#include "base/random.hpp"
#include "base/statistics.hpp"

namespace stepsim::calibrate {

namespace {

constexpr std::uint64_t kJitter = 1; // purposes of random numbers
constexpr std::uint64_t kOrder = 2;

std::int64_t multiple_of_four(double bytes) {
  return std::max<std::int64_t>(1, std::llround(bytes / 4)) * 4;
}

} // namespace

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::array<char, 32> text{};
  (void)std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
  return text.data();
}

std::vector<std::int64_t> collective_sizes(std::int64_t most, std::uint32_t ranks, bool dense,
                                           std::uint64_t seed) {
  assert(most >= 4 && ranks >= 1);
  base::RandomStream random({.seed = seed, .purpose = kJitter});
  std::vector<std::int64_t> sizes{0};
  const double factor = dense ? std::sqrt(2.0) : 2.0;
  for (double size = 4; size <= static_cast<double>(most); size *= factor) {
    const std::int64_t bytes = multiple_of_four(size * random.uniform(0.95, 1.05));
    sizes.push_back(std::min(bytes, most / 4 * 4));
  }
  const std::int64_t odd = std::int64_t{4} * (64 * 1024 * std::int64_t{ranks} + 1);
  if (ranks > 1 && odd <= most) {
    sizes.push_back(odd);
  }
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

std::vector<std::int64_t> kernel_sizes(std::int64_t most, bool dense) {
  std::vector<std::int64_t> sizes;
  for (int power = 16; power <= 28; power += dense ? 1 : 2) {
    const std::int64_t size = std::int64_t{1} << power;
    if (size <= most) {
      sizes.push_back(size);
    }
  }
  return sizes;
}

std::vector<std::size_t> visit_order(std::size_t blocks, int pass, std::uint64_t seed) {
  base::RandomStream random(
      {.seed = seed, .point = static_cast<std::uint64_t>(pass), .purpose = kOrder});
  std::vector<std::size_t> order(blocks);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t left = blocks; left > 1; --left) { // Fisher and Yates
    const auto other =
        static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(left) - 1));
    std::swap(order[left - 1], order[other]);
  }
  return order;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>>
sampled_pairs(std::uint32_t ranks, std::size_t most, std::uint64_t seed) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> all;
  for (std::uint32_t a = 0; a < ranks; ++a) {
    for (std::uint32_t b = a + 1; b < ranks; ++b) {
      all.emplace_back(a, b);
    }
  }
  std::vector<std::size_t> order = visit_order(all.size(), 0, seed);
  order.resize(std::min(order.size(), most));
  std::ranges::sort(order);
  return base::collected<std::pair<std::uint32_t, std::uint32_t>>(
      order, [&](std::size_t i) { return all[i]; });
}

int repeats_for(double seconds_per_call) {
  constexpr double kMost = 2000;
  if (seconds_per_call <= kLeastSampleSeconds / kMost) {
    return static_cast<int>(kMost);
  }
  return static_cast<int>(
      std::clamp(std::ceil(kLeastSampleSeconds / seconds_per_call), 1.0, kMost));
}

double median_half_width(std::span<const double> values) {
  const auto count = static_cast<double>(values.size());
  if (values.size() < 6) {
    return std::numeric_limits<double>::infinity();
  }
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  // Ranks j and n + 1 - j with j = floor((n - 1.96 sqrt n) / 2) hold the median with 95 %.
  const double rank = std::max(1.0, std::floor((count - 1.96 * std::sqrt(count)) / 2));
  const auto low = static_cast<std::size_t>(rank) - 1;
  const double width = sorted[sorted.size() - 1 - low] - sorted[low];
  return width / 2 / base::median(sorted);
}

std::vector<double> pooled(Passes passes, std::size_t without) {
  std::vector<double> all;
  for (std::size_t pass = 0; pass < passes.size(); ++pass) {
    if (pass != without) {
      all.insert(all.end(), passes[pass].begin(), passes[pass].end());
    }
  }
  return all;
}

bool enough(std::size_t pass, Passes passes) {
  const std::size_t samples = passes[pass].size();
  return samples >= kSamplesPerPass && (pass + 1 < kPasses || samples >= kMostSamplesPerPass ||
                                        median_half_width(pooled(passes)) < kGoodHalfWidth);
}

double pass_difference(Passes passes) {
  double largest = 0;
  for (std::size_t i = 0; i < passes.size(); ++i) {
    const std::vector<double> others = pooled(passes, i);
    if (!others.empty() && !passes[i].empty()) {
      const double other = base::median(others);
      largest = std::max(largest, std::abs(base::median(passes[i]) - other) / other);
    }
  }
  return largest;
}

} // namespace stepsim::calibrate
