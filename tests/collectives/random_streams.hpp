#pragma once
// What random streams of blocks have in common, whatever their links.
#include <cstdint>

#include "base/random.hpp"
#include "collectives/collective.hpp"

namespace stepsim::collectives::test {

// Draws chunking, the mode of additions, the last hop of lp, the root, and a block size that makes
// one block to some hundreds, or none. Operation, ranks and bytes are given.
inline void draw_blocks(base::RandomStream& random, Collective& collective) {
  Options& options = collective.options;
  options.chunking = random.integer(0, 1) == 0 ? Chunking::real : Chunking::integer;
  options.element_bytes = random.integer(1, 4);
  options.reduction_mode =
      random.integer(0, 2) == 0 ? ReductionMode::serial : ReductionMode::overlapped;
  options.lp_last_hop = random.integer(0, 3) > 0;
  if (random.integer(0, 4) > 0) {
    const double parts = random.uniform(0.5, 300);
    options.block = Bytes{static_cast<std::int64_t>(collective.bytes / parts) + 1};
  }
  collective.root = collective.op == Op::allreduce
                        ? 0
                        : static_cast<std::uint32_t>(
                              random.integer(0, static_cast<std::int64_t>(collective.ranks) - 1));
}

} // namespace stepsim::collectives::test
