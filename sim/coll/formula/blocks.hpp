#pragma once
// How the pipelined algorithms cut their message into blocks (COL 7). Small blocks fill the
// pipeline sooner, each pays a latency: with m blocks the time is A + alpha_blk m + X / m, least at
// m* = sqrt(X / alpha_blk).
#include <array>
#include <cstdint>
#include <optional>

#include "coll/collective.hpp"
#include "coll/formula/closed_form.hpp"
#include "coll/formula/node_shape.hpp"
#include "coll/formula/symbols.hpp"
#include "coll/schedule/double_tree.hpp"

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

// Blocks and closed form of lp or double_binary_tree as functions of the bytes alone, for callers
// that ask for many sizes of one collective: whatever else they depend on is computed once. With
// c of n > 0 bytes and r = block_rule(c), bit for bit,
//     r->blocks(n) = resolve_blocks(c),   r->form(n) = closed_form(c)
class BlockRule {
public:
  [[nodiscard]] Blocks blocks(double bytes) const;
  [[nodiscard]] ClosedForm form(double bytes) const;
  // Seconds that no form of these bytes is below, rounding aside: the time in the best real number
  // of blocks. 0 where a block is given, parts are whole elements, or the operation is not an
  // all-reduce with a last hop and overlapped additions (derived).
  [[nodiscard]] double least_seconds(double bytes) const;
  // A line that no form of `low` to `high` bytes is below, rounding aside.
  [[nodiscard]] Line least_line(double low, double high) const;

private:
  friend std::optional<Blocks> resolve_blocks(const Collective& collective);
  friend std::optional<BlockRule> block_rule(const Collective& collective);
  // The rule of a collective whose ranks enter together and whose best block a formula gives, so
  // that no search is needed.
  [[nodiscard]] static BlockRule of(const Collective& collective);
  [[nodiscard]] Blocks blocks(const Symbols& s) const;
  [[nodiscard]] bool has_least() const;
  [[nodiscard]] std::array<double, 2> least_parts(double bytes) const;

  Op op_{};
  std::uint32_t ranks_{};
  Options options_;
  bool tree_{};
  TreeDepths depths_; // of a tree
  Symbols symbols_;   // of any number of bytes
};
// Empty for other algorithms, for a printed cost form, for ranks that enter one after the other,
// and where the best block is found by a search. The bytes of `collective` are ignored.
[[nodiscard]] std::optional<BlockRule> block_rule(const Collective& collective);

} // namespace stepsim::coll
