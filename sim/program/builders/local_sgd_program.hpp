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
#include "base/words.hpp"
#include "program/builders/step_parts.hpp"
#include "program/training_program.hpp"

namespace stepsim::program {

// An outer message with what the compute stream does for it.
struct FragmentTimes {
  ExchangeTime exchange;
  Seconds merge;    // the outer update of what it carries
  Seconds encode{}; // before the exchange
  Seconds decode{}; // before the merge
};

struct RoundOptions {
  std::uint32_t local_steps = 1;   // H >= number of fragments
  std::uint32_t overlap_steps = 0; // tau, 0 <= tau < H
};

// One operation of `step` seconds per inner step. Marker: the last step. Tail: pending merges.
[[nodiscard]] Program local_sgd_program(Seconds step, const std::vector<FragmentTimes>& fragments,
                                        const RoundOptions& options);

// What waits for an outer message: the whole step that merges it, or only the forward of its layer,
// each layer having a message of its own.
enum class OuterGate { step, layer };
inline constexpr auto kOuterGates =
    base::words<OuterGate>({{OuterGate::step, "step"}, {OuterGate::layer, "layer"}});

// A round whose steps are the forwards and backwards of their layers.
struct LayeredRound {
  std::vector<LayerTimes> layers;
  std::vector<std::vector<std::uint32_t>> fragments; // layers of each; every layer is in one
  OuterGate gate{};
  std::vector<FragmentTimes> outer;   // [fragment], or [layer] with OuterGate::layer
  std::vector<BucketTimes> buckets{}; // that an island all-reduces in every step; none: one rank
  NextForward next_forward{};         // of the steps inside an island
  Seconds update{};                   // of every step
};

// An outer message leaves when its gradients are there: those of its layers after their backward,
// or after the island's exchanges. The update of a step is done layer by layer, after the backward
// of the layer, or in an island before the next forward. Marker: the last backward. Tail: pending
// merges.
[[nodiscard]] Program layered_round_program(const LayeredRound& round, const RoundOptions& options);

} // namespace stepsim::program
