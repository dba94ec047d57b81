#pragma once
// Sizes of gradients of which only the total is known (INP 1.4.3).
#include <cstdint>
#include <span>
#include <vector>

#include "import/kineto/kineto_layers.hpp"

namespace stepsim::io {

// What part of a total each gradient of the step gets: the backward time of its layer divided by
// the layer's gradients, 0 for layers that normalize. Against the known sizes of a ResNet-50 this
// puts about a fifth of the bytes into a wrong tensor where buckets are known, half where not.
[[nodiscard]] std::vector<double> size_weights(const StepSample& step);

// Whole elements in proportion to the weights, with the exact sum: the largest remainders get the
// rest, the first of equal ones. Where all weights are 0 the parts are equal.
[[nodiscard]] std::vector<std::int64_t> spread_elements(std::int64_t total,
                                                        std::span<const double> weights);

} // namespace stepsim::io
