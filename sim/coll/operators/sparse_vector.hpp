#pragma once
// A vector with few non-zero entries, and the operator of gTop-k on it (SPA 6):
//
//   T_k(a, b) = the k entries of a + b that come first by (|value| descending, index ascending)
//
// Invariants of a SparseVector: indices strictly ascending, as many values, all finite, none zero
// (-0.0 is zero too). Every function keeps them and drops sums that are exactly zero, so a result
// of T_k may have fewer than k entries. T_k commutes bit by bit; it is not associative.
// Values are double: integers up to 2^53 are exact. A sum beyond double is a SimulationError.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace stepsim::coll {

struct SparseVector {
  std::vector<std::uint32_t> indices;
  std::vector<double> values;

  [[nodiscard]] std::size_t size() const { return indices.size(); }
  [[nodiscard]] bool contains(std::uint32_t index) const; // O(log size)
  [[nodiscard]] double at(std::uint32_t index) const;     // 0 where there is no entry; O(log size)
  [[nodiscard]] bool operator==(const SparseVector&) const = default;
};

// What is wrong with one entry of lists that come from outside.
struct SparseProblem {
  enum class Part { index, value } part{};
  std::size_t position{}; // in the list
  std::string message;    // "index 9 is not below dims 7", "duplicate index 4"
};
// All problems in order of position: not ascending, duplicate, < 0 or >= dims, not finite. A zero
// value is none: `make_sparse` drops it. The lists have equal length (asserted).
[[nodiscard]] std::vector<SparseProblem> sparse_problems(std::span<const std::int64_t> indices,
                                                         std::span<const double> values,
                                                         std::int64_t dims);
// Throws SimulationError with the first problem.
[[nodiscard]] SparseVector make_sparse(std::span<const std::int64_t> indices,
                                       std::span<const double> values, std::int64_t dims);

// The non-zeros of `dense`, SimulationError for a value that is not finite; back again with `dims`
// elements (indices below dims, asserted).
[[nodiscard]] SparseVector to_sparse(std::span<const double> dense);
[[nodiscard]] std::vector<double> to_dense(const SparseVector& vector, std::size_t dims);

// The first k entries by (|value| descending, index ascending), zeros left out. O(m) expected time,
// m <= 2^32. Throws SimulationError for a value that is not finite.
[[nodiscard]] SparseVector select_top_k(std::span<const double> dense, std::uint32_t k);
[[nodiscard]] SparseVector select_top_k(const SparseVector& vector, std::uint32_t k);

// T_k(a, b). O(size of a + size of b).
[[nodiscard]] SparseVector merge_top_k(const SparseVector& a, const SparseVector& b,
                                       std::uint32_t k);

// The sum; equal indices are added from the first vector to the last. O(entries x log vectors).
[[nodiscard]] SparseVector sparse_sum(std::span<const SparseVector> vectors);
// Every value divided by `divisor`, without what becomes zero.
[[nodiscard]] SparseVector divided(const SparseVector& vector, double divisor);

} // namespace stepsim::coll
