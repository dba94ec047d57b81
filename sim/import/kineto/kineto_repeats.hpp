#pragma once
// Gradient accumulation (INP 1.3, rule 8): a step between two weight updates may have k
// micro-steps, each a forward and a backward pass, and only the last one exchanges gradients.
#include "import/kineto/kineto_layers.hpp"

namespace stepsim::io {

// If the step consists of k >= 2 equal repeats, reduces the sample to one micro-step: the medians
// of the layer times, the gradients of the last repeat, and `repeats` = k. Equal repeats have the
// same layers and gradients, each backward pass ends before the next forward pass, and all buckets
// are in the last one. Counts of nodes are divided by k; `times` stay those of the whole step. The
// largest possible k is used.
void join_repeats(StepSample& sample);

} // namespace stepsim::io
