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

} // namespace stepsim::collectives
