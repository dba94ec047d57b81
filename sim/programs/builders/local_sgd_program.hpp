#pragma once
// Builds programs of training that synchronises every H steps: local SGD, DiLoCo and streaming
// DiLoCo (TRN 4.8), also with synchronous steps inside an island of ranks (TRN 4.9). A program is
// one round of H steps:
//
//     compute  S1 S2 |S3 S4 |S5 S6 | ..      H = 6, P = 3 fragments, tau = 1 overlapped step:
//     outer         =X1==  =X2==  =X3==      merges before S4, S6 and S2 of the next round
//
// Fragment p = 1 .. P of the parameters is sent after step floor(p H / P) and merged tau steps
// later.

#include "programs/builders/step_parts.hpp"

namespace stepsim::programs {

// The time of an outer message, and of the work for it on the compute stream.
struct FragmentTimes {
  ExchangeTime exchange;
  Seconds merge;    // the outer update of the parameters in the message
  Seconds encode{}; // before the exchange
  Seconds decode{}; // before the merge
  bool sent = true; // false without bytes: there is no exchange, and the merge waits for none
};

struct RoundOptions {
  std::uint32_t local_steps = 1;   // H >= number of fragments
  std::uint32_t overlap_steps = 0; // tau, 0 <= tau < H
};

// A round with one operation of `step` seconds per inner step. The marker is the last step. The
// tail has the merges of the last round that fall into the next one.
[[nodiscard]] Program local_sgd_program(Seconds step, const std::vector<FragmentTimes>& fragments,
                                        const RoundOptions& options);

// What one outer message is, and what waits for it in the step before which it is merged:
//   step    a fragment; the whole step waits
//   layer   one layer of a fragment; only the forward of this layer waits
enum class OuterGate { step, layer };
inline constexpr auto kOuterGates = base::words<OuterGate>();

// A round whose steps consist of the forward and backward of every layer, or without layers of one
// operation of `step` seconds.
struct LayeredRound {
  std::vector<LayerTimes> layers{};
  std::vector<std::vector<std::uint32_t>> fragments; // [fragment]: layers; every layer is in one
  OuterGate gate{};
  std::vector<FragmentTimes> outer{}; // [fragment], or [layer] with OuterGate::layer
  std::vector<BucketTimes> buckets{}; // all-reduced in an island in every step; none = no islands
  NextForward next_forward{};         // for the steps inside an island
  Seconds update{};                   // inner update of all layers, in every step
  Seconds step{};
};

// The program of a layered round. The inner update of a layer follows its backward; in an island it
// comes before the next forward instead, after the exchanges of the island. In the step after which
// a fragment is sent, its outer messages leave
//   OuterGate::step    after the whole step, in an island after all exchanges of the step
//   OuterGate::layer   after the update of the layer, in an island after the exchanges of the
//                      layer's buckets
// The marker is the last backward; the tail has the merges of the last round that fall into the
// next one.
[[nodiscard]] Program layered_round_program(const LayeredRound& round, const RoundOptions& options);

} // namespace stepsim::programs
