#pragma once
// Orders the operations of one iteration for evaluation: every operation comes after the operations
// that it waits for at distance 0 (in the same iteration) and, unless it is on a priority stream,
// after the previous operation of its stream.
#include <cstdint>
#include <span>
#include <vector>

#include "programs/training_program.hpp"

namespace stepsim::programs {

// Operations by stream, in issue order.
struct StreamLists {
  std::vector<std::uint32_t> first; // streams + 1 positions in `operations`
  std::vector<std::uint32_t> operations;
  [[nodiscard]] std::span<const std::uint32_t> of(std::size_t stream) const {
    return {operations.data() + first[stream], operations.data() + first[stream + 1]};
  }
};
// The operations of one iteration, without the tail of the program.
[[nodiscard]] StreamLists stream_lists(const Program& program);
// The operations of the tail, which run once after the last iteration.
[[nodiscard]] StreamLists tail_lists(const Program& program);

struct IssueOrder {
  std::vector<std::uint32_t> order; // the operations of one iteration; shorter if there is a cycle
  // A cycle: each operation waits for the next one of the list, in the same iteration, and the last
  // for the first. Empty for a valid program.
  std::vector<std::uint32_t> cycle;
};

// The order of program.operations if it is valid, else another valid order. fifo and at_once
// streams start their operations in issue order; on a priority stream an operation may overtake
// another. O(operations + waits).
[[nodiscard]] IssueOrder issue_order(const Program& program);

} // namespace stepsim::programs
