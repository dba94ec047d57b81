#pragma once
// How old the gradients are that updates apply, in iterations (TRN 2.8): a gradient of iteration
// t - d that an update of iteration t applies has staleness d - 1 if the update stands before the
// exchange in the list, so that the computing of iteration t sees it, else d.
//
//     sync_sgd   U1 waits X1 of the iteration before, F1 follows     staleness 0
//     zero       U waits R of the same iteration                     staleness 0
//     pipe_sgd   A waits X of K iterations ago                       staleness K - 1
#include <cstdint>
#include <vector>

#include "program/training_program.hpp"

namespace stepsim::program {

[[nodiscard]] std::int32_t staleness(const Applied& applied);

// Applied gradients by their staleness, over `iterations` of a valid program: element k counts
// those of staleness k. Gradients of iterations before the first one do not exist.
[[nodiscard]] std::vector<std::int64_t> staleness_histogram(const Program& program,
                                                            std::int64_t iterations);

} // namespace stepsim::program
