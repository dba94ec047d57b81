#pragma once
// Spreads a total size over gradients, if only the total is known (INP 1.4.3).
#include <cstdint>
#include <span>
#include <vector>

#include "import/kineto/kineto_layers.hpp"

namespace stepsim::io {

// [gradient] weight for spread_elements(): backward time of its layer / number of gradients of the
// layer, 0 for layers that normalize. Compared with the known sizes of a ResNet-50, about a fifth
// of the bytes are in the wrong tensor if buckets are known, and half otherwise.
[[nodiscard]] std::vector<double> size_weights(const StepSample& step);

// Splits `total` into whole elements in proportion to the weights, with the exact sum: the largest
// remainders are rounded up, the first of equal ones. If all weights are 0, the parts are equal.
[[nodiscard]] std::vector<std::int64_t> spread_elements(std::int64_t total,
                                                        std::span<const double> weights);

} // namespace stepsim::io
