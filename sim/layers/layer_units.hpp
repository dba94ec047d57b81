#pragma once
// Groups the layers of a model into sharding units. The parameters of a unit are gathered together,
// and so are its gradients reduced (TRN 4.5, 8.1). A unit consists of consecutive layers in forward
// order:
//
//     layers   embed | layers.0.attn layers.0.mlp | layers.1.attn layers.1.mlp | norm output
//     block      1   |             2              |             3              |      4

#include "layers/workload.hpp"

namespace stepsim::layers {

// How layers are grouped:
//   layer    every layer is a unit
//   block    so many repeated `blocks` of the model, by the number in the names of its layers, and
//            the layers between two blocks; a layer is a block if no name has a number
//            (names_blocks)
//   size     a unit closes when it has at least `parameters`
//   all      one unit
//   count    units of `layers` layers; the last may be smaller
//   list     a unit ends after each layer of `cuts`
//   optimal  the units with the shortest period, which only a run can find
enum class WrappingPolicy { layer, block, size, all, count, list, optimal };
inline constexpr auto kWrappingPolicies = base::words<WrappingPolicy>();

inline constexpr std::int64_t kWrappingParameters = 100'000'000;

struct Wrapping {
  WrappingPolicy policy = WrappingPolicy::block;
  std::int64_t parameters = kWrappingParameters; // policy size: >= 1
  std::int64_t layers = 1;                       // policy count: >= 1
  std::int64_t blocks = 1;                       // policy block: >= 1
  std::vector<std::int64_t> cuts{};              // policy list: layers from 1, ascending
  bool operator==(const Wrapping&) const = default;
};

// [layer]: number of values of its gradients, in forward order.
[[nodiscard]] std::vector<std::int64_t> layer_parameters(const Workload& workload);

// The first layer, from 0, of every unit. Cuts must be ascending and inside the model; the policy
// must not be `optimal`.
[[nodiscard]] std::vector<std::uint32_t> unit_begins(const Workload& workload,
                                                     const Wrapping& wrapping);

// Whether the name of any layer has the number of a block: "layers.3.mlp", "h.3.attn",
// "layer1.0.conv1".
[[nodiscard]] bool names_blocks(const Workload& workload);
// 1, 2, 4, .. below the number of blocks: the `blocks` that searches try.
[[nodiscard]] std::vector<std::int64_t> block_counts(const Workload& workload);

} // namespace stepsim::layers
