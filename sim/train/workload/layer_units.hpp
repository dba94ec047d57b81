#pragma once
// How the layers of a model are grouped into sharding units, whose parameters are gathered and
// whose gradients are reduced together (TRN 4.5, 8.1). A unit is a run of neighbours in forward
// order:
//
//     layers   embed | layers.0.attn layers.0.mlp | layers.1.attn layers.1.mlp | norm output
//     block      1   |             2              |             3              |      4
#include <cstdint>
#include <vector>

#include "base/words.hpp"
#include "train/workload/workload.hpp"

namespace stepsim::train {

// layer: every layer; block: the repeated blocks of the model, by the number in the names of their
// layers, and what lies between them; size: a unit closes when it has at least `parameters`; all:
// one unit; count: units of `layers` layers, the last may be smaller; list: a unit ends after each
// layer of `cuts`.
// optimal: the units with the shortest period, which only a run knows.
enum class WrappingPolicy { layer, block, size, all, count, list, optimal };
inline constexpr auto kWrappingPolicies =
    base::words<WrappingPolicy>({{WrappingPolicy::layer, "layer"},
                                 {WrappingPolicy::block, "block"},
                                 {WrappingPolicy::size, "size"},
                                 {WrappingPolicy::all, "all"},
                                 {WrappingPolicy::count, "count"},
                                 {WrappingPolicy::list, "list"},
                                 {WrappingPolicy::optimal, "optimal"}});

inline constexpr std::int64_t kWrappingParameters = 100'000'000;

struct Wrapping {
  WrappingPolicy policy = WrappingPolicy::block;
  std::int64_t parameters = kWrappingParameters; // size, >= 1
  std::int64_t layers = 1;                       // count, >= 1
  std::vector<std::int64_t> cuts{};              // list: numbers of layers from 1, ascending
};

// Values of the gradients of every layer, in forward order.
[[nodiscard]] std::vector<std::int64_t> layer_parameters(const Workload& workload);

// The first layer of every unit, from 0. Cuts must be ascending and inside the model; the policy is
// not optimal.
[[nodiscard]] std::vector<std::uint32_t> unit_begins(const Workload& workload,
                                                     const Wrapping& wrapping);

// Whether any layer's name tells its block: "layers.3.mlp", "h.3.attn", "layer1.0.conv1".
[[nodiscard]] bool names_blocks(const Workload& workload);

} // namespace stepsim::train
