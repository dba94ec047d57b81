#pragma once
// How long the library takes for one operation by one pair of algorithm and protocol (CLU 7.1):
//
//   T = max(floor, L + X + kappa sqrt(L X), bound)
//
// The cross term is what remains of a pipeline whose block is not the best one for every size;
// collnet has none, as its chunks are in L and X. `floor` is the shortest launch. The bound is that
// of CLU 4 at the calibrated rates.
#include "library/node_bound.hpp"
#include "library/pair_parts.hpp"

namespace stepsim::library {

struct OperationTime {
  double seconds{};
  double latency_s{};  // L
  double transfer_s{}; // X
  double cross_s{};
  NodeBound bound;
  Limit limited_by{};
};

// The time that NCCL itself expects, L + X from published constants, seconds (CLU 6.2).
[[nodiscard]] double published_seconds(const Layout& layout, Operation operation, double bytes,
                                       Pair pair);

[[nodiscard]] OperationTime operation_time(const Layout& layout, Operation operation, double bytes,
                                           Pair pair, const Multipliers& multipliers,
                                           const CollnetOptions& collnet = {});

} // namespace stepsim::library
