#include "base/nelder_mead.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <utility>

namespace stepsim::base {

Minimum nelder_mead(const std::function<double(const std::vector<double>&)>& function,
                    const std::vector<double>& start, double step, std::int64_t iterations) {
  assert(!start.empty() && step != 1 && "the simplex has a volume");
  const std::size_t n = start.size();
  std::vector<Minimum> simplex{{start, function(start)}};
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> corner = start;
    corner[i] = corner[i] == 0 ? step - 1 : corner[i] * step;
    const double value = function(corner);
    simplex.push_back({std::move(corner), value});
  }
  const auto sort = [&] { std::ranges::stable_sort(simplex, {}, &Minimum::value); };
  for (std::int64_t k = 0; k < iterations; ++k) {
    sort();
    std::vector<double> centre(n, 0); // of all corners but the worst
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        centre[j] += simplex[i].at[j] / static_cast<double>(n);
      }
    }
    Minimum& worst = simplex.back();
    // centre + way (centre - worst)
    const auto along = [&](double way) {
      Minimum point{centre, 0};
      for (std::size_t j = 0; j < n; ++j) {
        point.at[j] += way * (centre[j] - worst.at[j]);
      }
      point.value = function(point.at);
      return point;
    };
    Minimum reflected = along(1);
    if (reflected.value < simplex.front().value) {
      Minimum expanded = along(2);
      worst = expanded.value < reflected.value ? std::move(expanded) : std::move(reflected);
      continue;
    }
    if (reflected.value < simplex[n - 1].value) {
      worst = std::move(reflected);
      continue;
    }
    Minimum contracted = along(reflected.value < worst.value ? 0.5 : -0.5);
    if (contracted.value < std::min(reflected.value, worst.value)) {
      worst = std::move(contracted);
      continue;
    }
    for (std::size_t i = 1; i <= n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        simplex[i].at[j] = (simplex[i].at[j] + simplex.front().at[j]) / 2;
      }
      simplex[i].value = function(simplex[i].at);
    }
  }
  sort();
  return simplex.front();
}

} // namespace stepsim::base
