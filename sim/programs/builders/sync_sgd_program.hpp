#pragma once
// Builds the program of synchronous training: buckets of gradients are all-reduced, possibly with
// gradient accumulation over micro-batches (TRN 4.1, 4.3).
//
//     compute  U1 F1 U2 F2 U3 F3 | B3 B2 B1 ..wait..| U1 F1 ..
//     reduce                          =X3==X2==X1===|
//
// The update of a layer waits for the exchanges of its buckets in the iteration before. Behind a
// barrier that of all layers waits for all of them, and so does the forward of the next micro-batch
// where every micro-batch exchanges, as in PyTorch's DistributedDataParallel.
#include <cstdint>
#include <vector>

#include "base/units.hpp"
#include "programs/builders/step_parts.hpp"
#include "programs/training_program.hpp"

namespace stepsim::programs {

struct SyncSgdOptions {
  Seconds update = {};
  NextForward next_forward = NextForward::per_layer;
  std::uint32_t micro_batches = 1; // layer times are those of one micro-batch
  bool exchange_each = false;      // exchange after every micro-batch instead of the last one
  // The stream of the exchanges. On a priority stream, the first buckets of the list are the most
  // urgent.
  Stream reduce = {.name = "reduce"};
  // Whether every bucket has a fifo stream of its own, so that none waits for another.
  bool stream_each = false;
};

// The program. `reduce` of a bucket is its all-reduce. The marker is the last backward; the tail is
// one update of all layers.
[[nodiscard]] Program sync_sgd_program(const std::vector<LayerTimes>& layers,
                                       const std::vector<BucketTimes>& buckets,
                                       const SyncSgdOptions& options = {});

} // namespace stepsim::programs
