#pragma once
// Settings of training that synchronises every H steps (TRN 4.8, 4.9), local SGD, DiLoCo and
// streaming DiLoCo, as plain values with all defaults filled in.

#include "links/profile/profile.hpp"
#include "programs/builders/local_sgd_program.hpp"
#include "scenario/value_codec.hpp"

namespace stepsim::study {

// What one step of a round is in the program: one operation of a rank (step), or a step of
// synchronous training inside an island, which is a node (sync_sgd).
enum class InnerTraining { step, sync_sgd };
inline constexpr auto kInnerTrainings = base::words<InnerTraining>();

// The layers of fragment p of P: every P-th layer from p on (strided), or consecutive layers
// (sequential). Layers, in forward order, and fragments are numbered from 0; this fragment p is
// fragment p + 1 of local_sgd_program.hpp.
enum class FragmentPattern { strided, sequential };
inline constexpr auto kFragmentPatterns = base::words<FragmentPattern>();

// The links of outer exchanges; empty values are those of the cluster.
struct OuterNetwork {
  std::optional<double> latency_s, bandwidth_Bps;
  std::optional<links::Carrier> transport; // of bandwidth_Bps
  std::optional<std::int64_t> ranks;       // number of ranks of an outer exchange
  [[nodiscard]] bool has_link() const { return latency_s || bandwidth_Bps; }
};

struct LocalTraining {
  std::int64_t local_steps = 1;   // H, number of steps per round
  std::int64_t fragments = 1;     // P, at most H and at most the number of layers
  std::int64_t overlap_steps = 0; // tau < H, steps from sending a fragment to merging it
  FragmentPattern fragment_pattern{};
  programs::OuterGate outer_gate{};
  InnerTraining inner{};
  Seconds outer_update;         // update time of all parameters
  double outer_value_bytes = 4; // bytes of a parameter or outer gradient, before the codec
  ValueCodec outer_compression;
  std::optional<OuterNetwork> outer_network;
};

} // namespace stepsim::study
