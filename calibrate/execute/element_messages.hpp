#pragma once
// A collective on real fp32 vectors: its messages from the schedule that the simulator evaluates
// (COL 5), and values whose sums can be checked bit by bit (CAL 7.2). Offsets and counts are in
// elements; ranges never wrap.
#include <cstdint>
#include <vector>

#include "coll/collective.hpp"

namespace stepsim::calibrate {

inline constexpr std::int64_t kElement = 4; // bytes

struct ElementMessage {
  std::int64_t step{};
  std::uint32_t src{};
  std::uint32_t dst{};
  std::int64_t offset{};
  std::int64_t count{};
  bool reduce{}; // the receiver adds
};

// All messages of a broadcast, reduce or all-reduce in program order, root 0. `ring` broadcast and
// reduce, which the simulator does not have, are the chain of `lp` (linear pipeline) in exactly P
// blocks of whole elements, the first ones one element longer where P does not divide their number.
// `collective.bytes` must be whole elements. Empty for one rank or no bytes.
[[nodiscard]] std::vector<ElementMessage> element_messages(coll::Collective collective);

// What x[rank][index] starts with and must hold in the end: exact in fp32 for sums below 2^24.
// Ranks of a reduction other than the root hold nothing defined.
[[nodiscard]] float initial_value(std::uint32_t rank, std::int64_t index);
[[nodiscard]] bool has_result(coll::Op op, std::uint32_t rank);
[[nodiscard]] float expected_value(coll::Op op, std::uint32_t ranks, std::int64_t index);

} // namespace stepsim::calibrate
