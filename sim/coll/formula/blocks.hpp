#pragma once
// How the pipelined algorithms cut their message into blocks (COL 7). Small blocks fill the
// pipeline sooner, each pays a latency: with m blocks the time is A + alpha_blk m + X / m, least at
// m* = sqrt(X / alpha_blk).
#include <cstdint>
#include <optional>

#include "coll/collective.hpp"

namespace stepsim::coll {

struct Blocks {
  double block_bytes{};
  std::int64_t blocks{};
  bool clamped = false; // the asked block was larger than the message
};
// Resolved block size of the pipelined algorithms; empty for others. On a fabric
// the optimum for the slowest way between neighbours of a ring, contention left out (ring_cost).
[[nodiscard]] std::optional<Blocks> resolve_blocks(const Collective& collective);

} // namespace stepsim::coll
