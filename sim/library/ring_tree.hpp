#pragma once
// Latency and transfer of NCCL's rings and double trees (CLU 6.2), with calibrated multipliers.
// Internal to pair_parts.
#include "library/pair_parts.hpp"

namespace stepsim::library {

// Every operation but alltoall.
[[nodiscard]] Parts ring_parts(const Layout& layout, Operation operation, double bytes,
                               Protocol protocol, const Multipliers& multipliers, View view);

// Of an all-reduce.
[[nodiscard]] Parts tree_parts(const Layout& layout, double bytes, Protocol protocol,
                               const Multipliers& multipliers);

// q of a ring, from the published rate; and of a tree, from the calibrated one.
[[nodiscard]] double ring_channels(const Layout& layout);
[[nodiscard]] double tree_channels(const Layout& layout, const Multipliers& multipliers);

} // namespace stepsim::library
