#pragma once
// Builds the program of OD-SGD (Xu et al., arXiv 2005.06728), in which weights are one iteration
// old. A worker applies its own gradients to a local copy at once. The gradients of all workers
// update the weights one iteration later, so that their exchange overlaps with the next step:
//
//     compute  F1 B1 U1  F2 B2 U2  F3     U = both updates; U2 waits for X1
//     reduce       =X1======   =X2=
//
// With a single bucket, the period is max(forward + backward + 2 update, exchange).
#include <vector>

#include "base/units.hpp"
#include "program/builders/step_parts.hpp"
#include "program/training_program.hpp"

namespace stepsim::program {

// The program. Each of the two updates takes `update` seconds. A bucket is exchanged when backward
// completes it; the updates of an iteration wait for all exchanges of the iteration before. The
// marker is the second update.
[[nodiscard]] Program od_sgd_program(const std::vector<LayerTimes>& layers,
                                     const std::vector<BucketTimes>& buckets, Seconds update);

} // namespace stepsim::program
