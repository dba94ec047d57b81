#pragma once
// The staleness, in iterations, of the gradients that updates apply (TRN 2.8). If an update of
// iteration t applies a gradient of iteration t - d, the staleness is d - 1 if the update comes
// before the exchange in the list of operations, because iteration t then computes with the updated
// weights; otherwise it is d.
//
//     sync_sgd   U1 waits X1 of the iteration before, F1 follows     staleness 0
//     zero       U waits R of the same iteration                     staleness 0
//     pipe_sgd   U waits X of K iterations ago                       staleness K - 1

#include "programs/training_program.hpp"

namespace stepsim::programs {

// Returns the staleness of the gradients that `applied` names.
[[nodiscard]] std::int32_t staleness(const Applied& applied);

} // namespace stepsim::programs
