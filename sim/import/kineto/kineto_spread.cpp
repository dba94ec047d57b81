#include "import/kineto/kineto_spread.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

namespace stepsim::io {

std::vector<double> size_weights(const StepSample& step) {
  std::vector<double> weights;
  for (const GradientSample& gradient : step.gradients) {
    const LayerSample& layer = step.layers[static_cast<std::size_t>(gradient.layer)];
    const bool normalizes = layer.operation.get().find("norm") != std::string::npos;
    weights.push_back(normalizes ? 0.0
                                 : static_cast<double>(layer.backward) /
                                       static_cast<double>(layer.gradients));
  }
  return weights;
}

std::vector<std::int64_t> spread_elements(std::int64_t total, std::span<const double> weights) {
  std::vector<std::int64_t> parts;
  if (weights.empty()) {
    return parts;
  }
  double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> share(weights.begin(), weights.end());
  if (sum <= 0) {
    std::ranges::fill(share, 1.0);
    sum = static_cast<double>(share.size());
  }
  std::vector<std::pair<double, std::size_t>> remainders;
  std::int64_t left = total;
  for (std::size_t i = 0; i < share.size(); ++i) {
    const double exact = static_cast<double>(total) * (share[i] / sum);
    parts.push_back(std::min(static_cast<std::int64_t>(std::floor(exact)), left));
    left -= parts.back();
    remainders.emplace_back(exact - std::floor(exact), i);
  }
  std::ranges::stable_sort(remainders, std::ranges::greater{},
                           [](const auto& row) { return row.first; });
  for (std::size_t i = 0; left > 0; i = (i + 1) % remainders.size(), --left) {
    ++parts[remainders[i].second];
  }
  return parts;
}

} // namespace stepsim::io
