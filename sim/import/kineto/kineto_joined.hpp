#pragma once
// Fewer layers where a trace has very many (INP 1.11): operators without parameters, which are most
// of a large model, are parts of the layer that follows them.
#include <cstddef>

#include "train/workload/trace.hpp"

namespace stepsim::io {

inline constexpr std::size_t kMostSeparateLayers = 400;

// With more than that many layers, those without gradients are joined to the next one with
// gradients, at the end to the last one: times are summed up, its name stays. Layers of units are
// counted anew, and a note says how many there were. Nothing where no layer has a gradient.
void join_layers(train::Trace& trace);

} // namespace stepsim::io
