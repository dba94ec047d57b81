#pragma once
// How the pipelined algorithms cut their message into blocks (COL 7). Small blocks fill the
// pipeline sooner, each pays a latency: with m blocks the time is A + alpha_blk m + X / m, least at
// m* = sqrt(X / alpha_blk).
#include <cstdint>
#include <optional>

#include "coll/collective.hpp"

namespace stepsim::coll {

inline constexpr double kSmallestBlock = 4096; // bytes, of a block that the search may choose

struct Blocks {
  double block_bytes{};
  std::int64_t blocks{};
  bool clamped = false; // the asked block was larger than what one stream of blocks carries
};
// Block size and number of blocks of the pipelined algorithms, of the larger tree of two, and of
// ring_rails for broadcast and reduce: as asked for, else the optimum. Empty for others. On a
// fabric the optimum for the slowest way between neighbours of a ring, contention left out
// (ring_cost).
[[nodiscard]] std::optional<Blocks> resolve_blocks(const Collective& collective);

} // namespace stepsim::coll
