#pragma once
// Synchronous training with all-reduced buckets, with gradient accumulation (TRN 4.1, 4.3):
//
//     compute  U1 F1 U2 F2 U3 F3 | B3 B2 B1 ..wait..| U1 F1 ..
//     reduce                          =X3==X2==X1===|
//
// The update of a layer waits for its bucket of the iteration before.
#include <cstdint>
#include <vector>

#include "base/units.hpp"
#include "program/builders/step_parts.hpp"
#include "program/training_program.hpp"

namespace stepsim::program {

struct SyncSgdOptions {
  Seconds update = {};
  NextForward next_forward = NextForward::per_layer;
  std::uint32_t micro_batches = 1; // layer times are those of one micro-batch
  bool exchange_each = false;      // exchange after every micro-batch instead of the last one
  // How the stream takes the buckets; on a priority stream the first of the list are the most
  // urgent.
  Stream reduce = {.name = "reduce"};
};

// `reduce` of a bucket is its all-reduce. Marker: the last backward. Tail: one update of all
// layers.
[[nodiscard]] Program sync_sgd_program(const std::vector<LayerTimes>& layers,
                                       const std::vector<BucketTimes>& buckets,
                                       const SyncSgdOptions& options = {});

} // namespace stepsim::program
