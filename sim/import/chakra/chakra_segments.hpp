#pragma once
// A Chakra trace cut at its collectives (INP 2.4): what is computed between two of them is one
// segment, and the segments of one training step are an iteration.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "import/chakra/chakra_nodes.hpp"

namespace stepsim::io {

struct ChakraSegment {
  double forward_us{}, backward_us{};
  bool in_backward = false;               // at its end
  const ChakraNode* collective = nullptr; // that ends it; null behind the last one
};

struct ChakraIteration {
  std::vector<ChakraSegment> segments; // at least one; the last has no collective
};

// What was found on the way, for messages.
struct ChakraCounts {
  std::int64_t compute{}, collectives{}, launches{}, sends_and_receives{};
  double all_us{};     // durations of all nodes
  std::int64_t host{}; // compute nodes of the host that are left out
  double host_us{};
  bool timed = false; // some compute node has a duration
  bool ordered_by_start = false;
};

struct ChakraSegments {
  std::vector<ChakraIteration> iterations; // at least one
  ChakraCounts counts;
};

// Compute nodes of the host only launch those of the device: they count where the device has none
// with a duration. An iteration begins at "ProfilerStep#N" where there are such nodes; else, where
// the collectives repeat and have names of their own, behind as many of them as repeat; else all is
// one iteration. Within an iteration the backward pass begins with the first node that is named as
// a part of it. Pointers are into `file`.
[[nodiscard]] ChakraSegments cut_at_collectives(const ChakraFile& file);

} // namespace stepsim::io
