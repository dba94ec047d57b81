#pragma once
// The gTop-k all-reduce over MPI (CAL 8.2): lists of k entries are reduced up a binomial tree and
// the result is broadcast down the tree. Two lists are merged by the simulator's own top-k operator
// (collectives/operators/global_top_k.hpp, SPA 6). An entry is a 32-bit index and an fp32 value; a
// list of fewer than k entries is padded with entries that the receiver ignores.
#include <cstdint>
#include <vector>

#include "calibrate/mpi/wire.hpp"
#include "collectives/operators/sparse_vector.hpp"

namespace stepsim::calibrate::mpi {

struct Entry {
  std::uint32_t index{};
  float value{};
};
static_assert(sizeof(Entry) == kEntry);

// Input of `rank` for a check: k entries of a vector of 16 * k elements, one in every 16. The
// values are pseudo-random integers that are exact in fp32 and differ from rank to rank.
[[nodiscard]] collectives::SparseVector sparse_selection(std::uint32_t rank, std::uint32_t k);
// The list that every rank must hold after run_sparse() if all began with their sparse_selection().
[[nodiscard]] collectives::SparseVector expected_sparse(std::uint32_t ranks, std::uint32_t k);

// Runs the steps of this rank. `program` must be of a sparse kind (asserted). `list` holds the
// selection of this rank before the call and the global top k after it.
void run_sparse(const Program& program, Wire& wire, collectives::SparseVector& list);

// Seconds to unpack a list of k entries from a message, merge it with a second list and pack the
// result: the median of 9 merges. No message is sent; the caller decides whether other ranks merge
// at the same time.
[[nodiscard]] double merge_seconds(std::uint32_t k);

} // namespace stepsim::calibrate::mpi
