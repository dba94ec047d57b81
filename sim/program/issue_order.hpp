#pragma once
// In which order the operations of one iteration can be evaluated: after everything that they wait
// for at distance 0, and after the operation before them on their stream.
#include <cstdint>
#include <span>
#include <vector>

#include "program/training_program.hpp"

namespace stepsim::program {

// The operations of every stream in issue order, the tail left out or alone.
struct StreamLists {
  std::vector<std::uint32_t> first; // streams + 1 positions in `operations`
  std::vector<std::uint32_t> operations;
  [[nodiscard]] std::span<const std::uint32_t> of(std::size_t stream) const {
    return {operations.data() + first[stream], operations.data() + first[stream + 1]};
  }
};
[[nodiscard]] StreamLists stream_lists(const Program& program);
[[nodiscard]] StreamLists tail_lists(const Program& program);

struct IssueOrder {
  std::vector<std::uint32_t> order; // the operations of one iteration; shorter if there is a cycle
  // Operations of which each waits for the next one in the same iteration, the last for the first;
  // empty for a valid program.
  std::vector<std::uint32_t> cycle;
};

// Streams that start their operations in issue order count: fifo and at_once; on a priority stream
// any operation may overtake. List order if that is valid. O(operations + waits).
[[nodiscard]] IssueOrder issue_order(const Program& program);

} // namespace stepsim::program
