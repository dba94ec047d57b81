#pragma once
// Which forward operator each backward node of a step belongs to (IO 4.5, rule 2; INP 1.3, rule 3).
//   numbers   the node has the sequence number of its operator
//   names     where fewer than half of the nodes have a number that some operator has: nodes run in
//             the reverse order of their operators, so XBackward belongs to the last operator X
//             before the operator of the node before
#include <cstdint>
#include <vector>

#include "import/kineto/kineto_index.hpp"

namespace stepsim::io {

struct NodeMatch {
  std::int32_t node{};     // top-level operator of the backward node
  std::int32_t layer = -1; // top-level operator of the forward thread; -1: none matches
};

// The backward nodes of a step in order of start, without gradient nodes.
[[nodiscard]] std::vector<NodeMatch> match_nodes(const KinetoRecording& recording,
                                                 const Attribution& attribution,
                                                 const KinetoIndex& index, std::size_t step);

} // namespace stepsim::io
