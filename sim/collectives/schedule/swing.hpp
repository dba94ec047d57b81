#pragma once
// Swing (De Sensi et al., NSDI 2024): an all-reduce for an even number P of ranks, with distances
//     d(t) = (1 - (-2)^(t+1)) / 3 = 1, -1, 3, -5, 11, ..   for t = 0, 1, .., L-1, L = ceil(log2 P)
// Even ranks r exchange with r + d(t), odd ranks with r - d(t): first a reduce-scatter, then an
// all-gather with the same pairs in reverse order. Every rank sends (P-1)/P of the buffer in each.
//
// If P = 2^L, the reduce-scatter begins with t = 0, so that the largest messages travel the
// shortest distance, and rank r ends with the sum of part `swing_part(r)`. For other P it begins
// with t = L-1: pairs exchange the remaining data of two neighbouring ranges of ranks, and rank r
// ends with part r.

#include "collectives/formula/closed_form.hpp"
#include "collectives/schedule/flat_phases.hpp"

namespace stepsim::collectives {

inline constexpr AlgorithmId kSwing{100};

// Returns the peer of a rank at distance d(t), modulo P.
[[nodiscard]] Index swing_peer(Index ranks, Index t, Index rank);
// Returns the part that a rank reduces if P is a power of two. Ranks that can still reach each
// other from exchange t on have consecutive parts.
[[nodiscard]] Index swing_part(Index ranks, Index rank);

// 2 L alpha + 2 (P-1)/P n beta + (P-1)/P n gamma; empty for odd P.
[[nodiscard]] std::optional<ClosedForm> swing_allreduce(const Collective& collective);
// Appends the phases; returns false for other operations and odd P.
[[nodiscard]] bool swing_phases(FlatPhases& phases, Op op);

} // namespace stepsim::collectives
