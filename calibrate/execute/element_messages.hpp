#pragma once
// The messages of a collective on real fp32 vectors, from the schedule that the simulator evaluates
// (COL 5), and values whose sums can be checked bit by bit (CAL 7.2). Offsets and counts are in
// elements; a range never wraps around the end of the vector.
#include <string>

#include "collectives/collective.hpp"

namespace stepsim::calibrate {

inline constexpr std::int64_t kElement = 4; // bytes

struct Kind {
  collectives::Op op = collectives::Op::allreduce;
  collectives::AlgorithmId algorithm = collectives::AlgorithmId::ring;
  bool sparse = false; // gtopk_tree: mst all-reduce of k entries
};
// Broadcast, reduce and all-reduce by mst, be, lp and ring, in the order of tables.
[[nodiscard]] std::span<const Kind> dense_kinds();

// Of fp32 vectors of so many bytes, in whole elements; the root is rank 0.
[[nodiscard]] collectives::Collective collective_of(const Kind& kind, std::uint32_t ranks,
                                                    std::int64_t bytes);

struct ElementMessage {
  std::int64_t step{};
  std::uint32_t src{};
  std::uint32_t dst{};
  std::int64_t offset{};
  std::int64_t count{};
  bool reduce{}; // the receiver adds the data
};

// All messages of a broadcast, reduce or all-reduce in program order, with root 0. The simulator
// has no `ring` broadcast or reduce; here these are the chain of `lp` (linear pipeline) in exactly
// P blocks of whole elements for P ranks, the first blocks one element longer if P does not divide
// the number of elements. `collective.bytes` must be whole elements. Empty for one rank or no
// bytes.
[[nodiscard]] std::vector<ElementMessage> element_messages(collectives::Collective collective);

// The vector of `rank` before the collective, and that of the ranks after it for which has_result()
// is true: in a reduce only the root has a defined result. Exact in fp32 for sums below 2^24.
[[nodiscard]] std::vector<float> initial_vector(std::uint32_t rank, std::int64_t elements);
[[nodiscard]] bool has_result(collectives::Op op, std::uint32_t rank);
[[nodiscard]] std::vector<float> expected_vector(collectives::Op op, std::uint32_t ranks,
                                                 std::int64_t elements);
// " index=3: got 40, expected 30" for the first bits that differ, "" if none do. `got` is at least
// as long as `expected`.
[[nodiscard]] std::string first_difference(std::span<const float> got,
                                           std::span<const float> expected);

} // namespace stepsim::calibrate
