#pragma once
// A vector with few non-zero entries, and the operator of gTop-k on it (SPA 6):
//
//   T_k(a, b) = the k entries of a + b that come first by (|value| descending, index ascending)
//
// Invariants of a SparseVector: indices strictly ascend; there are as many values, all finite and
// not zero (-0.0 is zero, too). Every function keeps them and drops sums that are exactly zero, so
// a result of T_k may have fewer than k entries. T_k(a, b) and T_k(b, a) have the same bits, but
// T_k is not associative. Values are double, so integers up to 2^53 are exact. A sum that exceeds
// the range of double throws SimulationError.

#include "base/words.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace stepsim::collectives {

struct SparseVector {
  std::vector<std::uint32_t> indices;
  std::vector<double> values;

  [[nodiscard]] std::size_t size() const { return indices.size(); }
  [[nodiscard]] bool contains(std::uint32_t index) const; // O(log size)
  [[nodiscard]] double at(std::uint32_t index) const;     // 0 if there is no entry; O(log size)
  [[nodiscard]] bool operator==(const SparseVector&) const = default;
};

// A problem with one entry of lists that were read from a file or passed by a caller.
struct SparseProblem {
  enum class Part { index, value } part{};
  std::size_t position{}; // index in the list
  std::string message;    // "index 9 is not below dims 7", "duplicate index 4"
};
// Returns all problems in order of position: indices that do not ascend, are duplicate, < 0 or >=
// dims, and values that are not finite. A zero value is not a problem: `make_sparse` drops it. The
// lists must have equal length (asserted).
[[nodiscard]] std::vector<SparseProblem> sparse_problems(std::span<const std::int64_t> indices,
                                                         std::span<const double> values,
                                                         std::int64_t dims);
// Returns the vector of these lists; `dims` is at most 2^32 (asserted). Throws SimulationError with
// the first problem.
[[nodiscard]] SparseVector make_sparse(std::span<const std::int64_t> indices,
                                       std::span<const double> values, std::int64_t dims);

// to_sparse() returns the non-zeros of `dense`, and throws SimulationError for a value that is not
// finite. to_dense() returns `dims` elements; indices must be below `dims` (asserted).
[[nodiscard]] SparseVector to_sparse(std::span<const double> dense);
[[nodiscard]] std::vector<double> to_dense(const SparseVector& vector, std::size_t dims);

// Returns the first k entries by (|value| descending, index ascending), without zeros. O(m)
// expected time for m <= 2^32 elements. Throws SimulationError for a value that is not finite.
[[nodiscard]] SparseVector select_top_k(std::span<const double> dense, std::uint32_t k);
[[nodiscard]] SparseVector select_top_k(const SparseVector& vector, std::uint32_t k);

// Returns T_k(a, b): the k first entries of the sum.
[[nodiscard]] SparseVector merge_top_k(const SparseVector& a, const SparseVector& b,
                                       std::uint32_t k);

// Returns the sum; equal indices are added from the first vector to the last. O(n log n)
// for n entries of all vectors.
[[nodiscard]] SparseVector sparse_sum(std::span<const SparseVector> vectors);
// Returns every value divided by `divisor`, without values that become zero. Throws SimulationError
// if a quotient is not finite.
[[nodiscard]] SparseVector divided(const SparseVector& vector, double divisor);

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
