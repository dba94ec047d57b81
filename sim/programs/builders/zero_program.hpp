#pragma once
// Builds the program of ZeRO stages 1 and 2 (TRN 4.4): parameters are replicated; the optimizer
// state and, in stage 2, the gradients are sharded over N ranks.
//
//     compute  F1 F2 F3 | B3 B2 B1 ....... U ............
//     reduce                 =R3==R2==R1===   =G1==G2==G3=

#include "programs/builders/step_parts.hpp"

namespace stepsim::programs {

struct ZeroOptions {
  std::uint32_t stage = 1;         // stage 2 reduce-scatters after every micro-batch, 1 at the end
  std::uint32_t micro_batches = 1; // layer times are those of one micro-batch
  Seconds update = {};             // time to update all parameters; a rank takes update / shards
  double shards = 1;
  Seconds encode = {}; // encoding a rank's shard, after the update and before the all-gathers
  NextForward gather = NextForward::barrier;
  // If not empty: gradients are all-reduced, and these broadcasts behind the update take the place
  // of all-gathers; the next forward waits for all. Their units follow those of the buckets.
  std::vector<ExchangeTime> broadcasts{};
};

// The program. `reduce` and `gather` of a bucket are its reduce-scatter (all-reduce) and
// all-gather. The marker is the update.
[[nodiscard]] Program zero_program(const std::vector<LayerTimes>& layers,
                                   const std::vector<BucketTimes>& buckets,
                                   const ZeroOptions& options);

} // namespace stepsim::programs
