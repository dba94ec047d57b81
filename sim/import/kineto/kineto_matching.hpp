#pragma once
// Finds the forward operator of each backward node of a step (IO 4.5, rule 2; INP 1.3, rule 3).
//   numbers   the node has the sequence number of its operator
//   names     used if fewer than half of the nodes have the number of an operator: nodes run in
//             the reverse order of their operators, so XBackward belongs to the last operator X
//             before the operator of the previous node
#include <cstdint>
#include <vector>

#include "import/kineto/kineto_index.hpp"

namespace stepsim::io {

struct NodeMatch {
  std::int32_t node{};     // the backward node, a top-level operator
  std::int32_t layer = -1; // top-level operator of the forward thread; -1: no match
};

// One match per backward node of the step in order of start, without gradient nodes.
[[nodiscard]] std::vector<NodeMatch> match_nodes(const KinetoRecording& recording,
                                                 const Attribution& attribution,
                                                 const KinetoIndex& index, std::size_t step);

} // namespace stepsim::io
