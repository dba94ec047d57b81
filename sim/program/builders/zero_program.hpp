#pragma once
// ZeRO stages 1 and 2: parameters replicated, optimizer state and, with stage 2, gradients sharded
// over N ranks (TRN 4.4):
//
//     compute  F1 F2 F3 | B3 B2 B1 ....... U ............
//     reduce                 =R3==R2==R1===   =G1==G2==G3=
#include <cstdint>
#include <vector>

#include "base/units.hpp"
#include "program/builders/step_parts.hpp"
#include "program/training_program.hpp"

namespace stepsim::program {

struct ZeroOptions {
  std::uint32_t stage = 1;         // 2: reduce-scatters after every micro-batch
  std::uint32_t micro_batches = 1; // layer times are those of one micro-batch
  Seconds update = {};             // of all parameters; each rank updates one of `shards`
  std::uint32_t shards = 1;
  Seconds encode = {}; // of a rank's parameters, after the update and before they are gathered
  NextForward gather = NextForward::barrier;
};

// `reduce` and `gather` of a bucket are its reduce-scatter and all-gather. Marker: the update.
[[nodiscard]] Program zero_program(const std::vector<LayerTimes>& layers,
                                   const std::vector<BucketTimes>& buckets,
                                   const ZeroOptions& options);

} // namespace stepsim::program
