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

// Channels (q of CLU 6.2): of a ring, on several nodes its cards, else by the published rate; and
// of a tree, by the calibrated rate.
[[nodiscard]] double ring_channels(const Layout& layout);
[[nodiscard]] double tree_channels(const Layout& layout, const Multipliers& multipliers);

} // namespace stepsim::library
