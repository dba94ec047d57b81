#pragma once
// OD-SGD (Xu et al., arXiv 2005.06728): every iteration computes on weights with one delay. Its
// gradients update the worker's own copy at once, and all workers' gradients of the iteration
// before, whose exchange overlaps with the step, update the weights:
//
//     compute  F1 B1 U1  F2 B2 U2  F3     U = both updates; U2 waits X1
//     reduce       =X1======   =X2=
//
// Period: max(forward + backward + 2 update, exchange), where one exchange follows the backward.
#include <vector>

#include "base/units.hpp"
#include "program/builders/step_parts.hpp"
#include "program/training_program.hpp"

namespace stepsim::program {

// `update`: time of one of the two updates. Buckets are exchanged as backward completes them; the
// updates of an iteration wait for all exchanges of the iteration before.
[[nodiscard]] Program od_sgd_program(const std::vector<LayerTimes>& layers,
                                     const std::vector<BucketTimes>& buckets, Seconds update);

} // namespace stepsim::program
