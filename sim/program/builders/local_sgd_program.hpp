#pragma once
// Training that synchronises every H steps: local SGD, DiLoCo, streaming DiLoCo (TRN 4.8) and their
// form with synchronous steps inside an island (TRN 4.9). A program is one round of H steps:
//
//     compute  S1 S2 |S3 S4 |S5 S6 | ..      H = 6, P = 3 fragments, tau = 1 overlapped step:
//     outer         =X1==  =X2==  =X3==      merges before S4, S6 and S2 of the next round
//
// Fragment p = 1 .. P is sent after step floor(p H / P) and merged tau steps later.
#include <cstdint>
#include <vector>

#include "base/units.hpp"
#include "program/builders/step_parts.hpp"
#include "program/training_program.hpp"

namespace stepsim::program {

struct FragmentTimes {
  ExchangeTime exchange;
  Seconds merge; // the outer update of the fragment
};

struct RoundOptions {
  std::uint32_t local_steps = 1;   // H >= number of fragments
  std::uint32_t overlap_steps = 0; // tau, 0 <= tau < H
};

// One operation of `step` seconds per inner step. Marker: the last step. Tail: pending merges.
[[nodiscard]] Program local_sgd_program(Seconds step, const std::vector<FragmentTimes>& fragments,
                                        const RoundOptions& options);

// A step is the forwards and backwards of its layers; a fragment is a set of layers, each with a
// message of its own, which only the forward of this layer waits for. Every layer is in one
// fragment. Marker: the last backward.
[[nodiscard]] Program layer_gated_program(const std::vector<LayerTimes>& layers,
                                          const std::vector<std::vector<std::uint32_t>>& fragments,
                                          const std::vector<ExchangeTime>& layer_exchange,
                                          const RoundOptions& options);

// Every inner step all-reduces `buckets` inside the island, layer by layer; one outer exchange per
// round. Marker: the last backward. Tail: the outer update.
[[nodiscard]] Program hierarchical_program(const std::vector<LayerTimes>& layers,
                                           const std::vector<BucketTimes>& buckets,
                                           const FragmentTimes& outer, const RoundOptions& options);

} // namespace stepsim::program
