#pragma once
// The symbols of the formulas of COL 5, as numbers for one collective.
#include <cstdint>

#include "collectives/collective.hpp"

namespace stepsim::collectives {

struct Symbols {
  double P{};         // ranks
  double n{};         // bytes
  double L{};         // ceil(log2 P)
  double K{};         // floor(log2 P)
  double F{};         // 1 if P is not a power of two, else 0
  double f{};         // (P-1)/P
  double fq{};        // (q-1)/q, q = 2^K
  double alpha{};     // s per message that waits for the previous one: latency + delay
  double alpha_blk{}; // s per block after the first of a pipelined message
  double delay{};     // s of alpha during which no port is held; 0 for cost forms but exact
  double beta{};      // s per byte
  double gamma{};     // s per byte added
  bool serial{};      // additions hold the receive port (ReductionMode::serial)
};
// Returns the symbols. Needs `homogeneous()` (asserted): all ranks have one alpha, beta and gamma.
[[nodiscard]] Symbols symbols(const Collective& collective);

// Both are 0 for 0 and 1 ranks.
[[nodiscard]] std::uint32_t ceil_log2(std::uint32_t ranks);
[[nodiscard]] std::uint32_t floor_log2(std::uint32_t ranks);

} // namespace stepsim::collectives
