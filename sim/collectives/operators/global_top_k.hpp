#pragma once
// Computes the result of a sparse exchange, not its cost: every rank gives its selection, and all
// ranks get one list (SPA 4, 6, 7).
//
//   topk             the sum of all selections
//   gtopk_tree       T_k along a binomial tree to rank 0: in round j rank r, a multiple of 2^(j+1),
//                    merges the list of r + 2^j, if that rank exists
//   gtopk_butterfly  in exchange i rank r merges the list of r XOR 2^i. If P is no power of two,
//                    each rank r >= P2, the largest power of two below P, first gives its list to
//                    r - P2, which merges it (round 0), and gets the result at the end; exchange i
//                    is then round i + 1, otherwise round i
//   gtopk_exact      the top k of the sum of all selections
//
// T_k adds two lists and keeps the k largest entries (sparse_vector.hpp). It is not associative, so
// the result depends on the rounds, which always run in rank order.

#include "base/words.hpp"
#include "collectives/operators/sparse_vector.hpp"

namespace stepsim::collectives {

enum class SparseMethod { topk, gtopk_tree, gtopk_butterfly, gtopk_exact };
inline constexpr auto kSparseMethods = base::words<SparseMethod>();

// `rank` merges the list of `from` into its own; `result` is the merged list.
struct Merge {
  std::uint32_t rank{};
  std::uint32_t from{};
  SparseVector result;
};

struct GlobalTopK {
  SparseVector result;
  // [round] merges by ascending rank; an exchange in a butterfly is two merges, one per rank. Empty
  // for topk, gtopk_exact and one rank.
  std::vector<std::vector<Merge>> rounds;
  // [rank][entry of its selection] whether the index was in the merged list of every merge that
  // contained this rank's contribution. topk: always true; gtopk_exact: whether the index is in the
  // result.
  std::vector<std::vector<bool>> survived;
};

// Computes the exchange. `selected` has one list per rank, at least one, each of at most k entries
// (asserted). Throws SimulationError if a sum exceeds the range of double.
[[nodiscard]] GlobalTopK gtopk(SparseMethod method, std::span<const SparseVector> selected,
                               std::uint32_t k);

// The threshold of Gaussian-k: a fraction `density` of normally distributed values is more than z
// standard deviations away from the mean (SPA 8.3, 11).
//
//     erfc(z / sqrt 2) = density          density 0.001: z = 3.2905, the two-sided quantile
//
// Kernels that select by threshold start from mu + z sigma.

// Returns z >= 0 for a density in (0, 1]. Source: SPA 13, decision 14 (the published code).
[[nodiscard]] double gaussian_threshold(double density);

} // namespace stepsim::collectives
