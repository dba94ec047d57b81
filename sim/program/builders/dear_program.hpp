#pragma once
// Synchronous training whose exchange has two halves: `dear`, a reduce-scatter in backward and an
// all-gather in the next forward, and `reduce_broadcast` over a root (TRN 4.2):
//
//     compute  B3 B2 B1 | ........ F1 F2 F3
//     reduce      =R3=R2=R1=G1=G2=G3=
#include <vector>

#include "base/units.hpp"
#include "program/builders/step_parts.hpp"
#include "program/training_program.hpp"

namespace stepsim::program {

// When the all-gathers start: all of them after the reduce-scatters, or each when the forward
// reaches the bucket before it.
enum class GatherPrefetch { all, one };

struct DearOptions {
  Seconds update = {};
  GatherPrefetch prefetch = GatherPrefetch::all;
  NextForward next_forward = NextForward::per_layer; // barrier: with prefetch `all`
};

// Marker: the last backward. Tail: with prefetch `one` the gathers still to come, then one update.
[[nodiscard]] Program dear_program(const std::vector<LayerTimes>& layers,
                                   const std::vector<BucketTimes>& buckets,
                                   const DearOptions& options = {});

// The root updates all layers in `update` between the reduces and the broadcasts.
[[nodiscard]] Program reduce_broadcast_program(const std::vector<LayerTimes>& layers,
                                               const std::vector<BucketTimes>& buckets,
                                               Seconds update,
                                               NextForward next_forward = NextForward::per_layer);

} // namespace stepsim::program
