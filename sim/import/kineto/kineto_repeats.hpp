#pragma once
// Gradient accumulation (INP 1.3, rule 8): a step between two updates of the weights may hold k
// micro-steps, each a forward and a backward pass, of which only the last exchanges gradients.
#include "import/kineto/kineto_layers.hpp"

namespace stepsim::io {

// If the step is k >= 2 equal repeats (the same layers and gradients, one backward pass before the
// next forward pass, all buckets in the last), the sample becomes that of one micro-step: the
// medians of the layers' times, the gradients of the last repeat, `repeats` k. The sums of the step
// stay. Of several k the largest counts.
void join_repeats(StepSample& sample);

} // namespace stepsim::io
