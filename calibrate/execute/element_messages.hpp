#pragma once
// The messages of a collective on real fp32 vectors, from the schedule that the simulator evaluates
// (COL 5), and values whose sums can be checked bit by bit (CAL 7.2). Offsets and counts are in
// elements; a range never wraps around the end of the vector.
#include <cstdint>
#include <vector>

#include "collectives/collective.hpp"

namespace stepsim::calibrate {

inline constexpr std::int64_t kElement = 4; // bytes

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

// The value of x[rank][index] before the collective, and of x[..][index] after it on the ranks for
// which has_result() is true: in a reduce only the root has a defined result. Exact in fp32 for
// sums below 2^24.
[[nodiscard]] float initial_value(std::uint32_t rank, std::int64_t index);
[[nodiscard]] bool has_result(collectives::Op op, std::uint32_t rank);
[[nodiscard]] float expected_value(collectives::Op op, std::uint32_t ranks, std::int64_t index);

} // namespace stepsim::calibrate
