#pragma once
// Fewer layers where a trace has very many (INP 1.11): operators without parameters, which are most
// of a large model, are parts of the layer that follows them.
#include <cstddef>

#include "layers/trace.hpp"

namespace stepsim::io {

inline constexpr std::size_t kMostSeparateLayers = 400;

// If there are more than kMostSeparateLayers layers, adds the times of each layer without gradients
// to the next layer with gradients (after the last one of these, to the last one), which keeps its
// name, and removes it. The positions of layers in `units` are adapted, and a warning of the trace
// has the number of layers before. Changes nothing if no layer has a gradient.
void join_layers(layers::Trace& trace);

} // namespace stepsim::io
