#pragma once
// Latency and transfer of NCCL's rings and double trees (CLU 6.2), with calibrated multipliers.
// Internal to pair_parts.
#include "nccl/pair_parts.hpp"

namespace stepsim::nccl {

// Returns the parts of a ring, for every operation but alltoall.
[[nodiscard]] Parts ring_parts(const Layout& layout, Operation operation, double bytes,
                               Protocol protocol, const Multipliers& multipliers, View view);

// Returns the parts of a double tree, for an all-reduce.
[[nodiscard]] Parts tree_parts(const Layout& layout, double bytes, Protocol protocol,
                               const Multipliers& multipliers);

// Return the number of channels, q of CLU 6.2. On several nodes a ring has one channel per card; on
// one node their number follows from the published rate. The channels of a tree follow from the
// calibrated rate.
[[nodiscard]] double ring_channels(const Layout& layout);
[[nodiscard]] double tree_channels(const Layout& layout, const Multipliers& multipliers);

} // namespace stepsim::nccl
