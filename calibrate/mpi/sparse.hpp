#pragma once
// gTop-k with real messages (CAL 8.2): k entries up a binomial tree, merged by the operator that
// the simulator calls (SPA 6), then down again. An entry is its index and its value as fp32; a list
// of fewer than k entries is padded with entries that the receiver ignores.
#include <cstdint>
#include <vector>

#include "calibrate/mpi/wire.hpp"
#include "coll/operators/sparse_vector.hpp"

namespace stepsim::calibrate::mpi {

struct Entry {
  std::uint32_t index{};
  float value{};
};
static_assert(sizeof(Entry) == kEntry);

// k entries of a vector of 16 k. Values are whole numbers, exact in fp32, and others for every
// rank.
[[nodiscard]] coll::SparseVector sparse_selection(std::uint32_t rank, std::uint32_t k);
// What all ranks must hold in the end.
[[nodiscard]] coll::SparseVector expected_sparse(std::uint32_t ranks, std::uint32_t k);

// `program` of a sparse kind; `list` is this rank's selection before and the result after.
void run_sparse(const Program& program, Wire& wire, coll::SparseVector& list);

// Seconds of one merge of two lists of k entries, with unpacking one from a message and packing the
// result into one: median of 9. No message is sent; the caller decides whether other ranks merge at
// the same time.
[[nodiscard]] double merge_seconds(std::uint32_t k);

} // namespace stepsim::calibrate::mpi
