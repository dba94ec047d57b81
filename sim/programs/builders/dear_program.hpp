#pragma once
// Builds programs of synchronous training whose exchange has two halves (TRN 4.2). `dear` does a
// reduce-scatter during backward and an all-gather during the next forward; `reduce_broadcast`
// reduces to a root, which updates the weights and broadcasts them. Below: `dear` without updates.
//
//     compute  B3 B2 B1 | ........ F1 F2 F3
//     reduce      =R3=R2=R1=G1=G2=G3=
#include <vector>

#include "base/units.hpp"
#include "programs/builders/step_parts.hpp"
#include "programs/training_program.hpp"

namespace stepsim::programs {

// When the all-gathers start: all of them after the reduce-scatters, or each one when the forward
// pass reaches the bucket before it (in forward order).
enum class GatherPrefetch { all, one };

struct DearOptions {
  Seconds update = {};
  GatherPrefetch prefetch = GatherPrefetch::all;
  // barrier requires prefetch `all`, which is not checked.
  NextForward next_forward = NextForward::per_layer;
};

// The `dear` program. Its marker is the last backward. Its tail has, with prefetch `one`, the
// all-gathers of the last iteration, and then one update of all layers.
[[nodiscard]] Program dear_program(const std::vector<LayerTimes>& layers,
                                   const std::vector<BucketTimes>& buckets,
                                   const DearOptions& options = {});

// The `reduce_broadcast` program. Between the reduces and the broadcasts, the update of all layers
// takes `update` seconds. The marker is the last backward; there is no tail.
[[nodiscard]] Program reduce_broadcast_program(const std::vector<LayerTimes>& layers,
                                               const std::vector<BucketTimes>& buckets,
                                               Seconds update,
                                               NextForward next_forward = NextForward::per_layer);

} // namespace stepsim::programs
