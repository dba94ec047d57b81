#pragma once
// Builds the program of OD-SGD (Xu et al., arXiv 2005.06728), in which weights are one iteration
// old. After its backward, a worker makes two updates, one after the other: it updates the weights
// with the gradients of all workers of the iteration before, and then its local copy with its own
// gradients of this iteration. An exchange so overlaps with the next step:
//
//     compute  F1 B1 U1  F2 B2 U2  F3     U = both updates; U2 waits for X1
//     reduce       =X1======   =X2=
//
// With a single bucket, the period is max(forward + backward + 2 update, exchange).
#include <vector>

#include "base/units.hpp"
#include "programs/builders/step_parts.hpp"
#include "programs/training_program.hpp"

namespace stepsim::programs {

// The program. Each of the two updates takes `update` seconds. A bucket is exchanged when backward
// completes it. The first update of an iteration waits for all exchanges of the iteration before,
// and the second, local one follows it. The marker is the second update.
[[nodiscard]] Program od_sgd_program(const std::vector<LayerTimes>& layers,
                                     const std::vector<BucketTimes>& buckets, Seconds update);

} // namespace stepsim::programs
