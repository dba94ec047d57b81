#pragma once
// The time of one operation in the library, with one pair of algorithm and protocol (CLU 7.1):
//
//   T = max(floor, L + X + kappa sqrt(L X), bound)
//
// L is latency and X transfer. The cross term remains from a pipeline whose block is not optimal
// for every size; collnet has none, because its chunks are in L and X. `floor` is the shortest
// launch. The bound is the lower bound of CLU 4 at the calibrated rates.
#include "nccl/node_bound.hpp"
#include "nccl/pair_parts.hpp"

namespace stepsim::nccl {

struct OperationTime {
  double seconds{};
  double latency_s{};  // L
  double transfer_s{}; // X
  double cross_s{};
  NodeBound bound;
  Limit limited_by{};
};

// Returns the seconds that NCCL itself estimates, L + X from published constants (CLU 6.2).
[[nodiscard]] double published_seconds(const Layout& layout, Operation operation, double bytes,
                                       Pair pair);

[[nodiscard]] OperationTime operation_time(const Layout& layout, Operation operation, double bytes,
                                           Pair pair, const Multipliers& multipliers,
                                           const CollnetOptions& collnet = {});

} // namespace stepsim::nccl
