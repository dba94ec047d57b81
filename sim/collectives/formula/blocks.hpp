#pragma once
// How the pipelined algorithms cut their message into blocks (COL 7). Small blocks fill the
// pipeline sooner, but each costs the latency alpha_blk: with m blocks the time is
// A + alpha_blk m + X / m, where A and X depend on the algorithm and the bytes. It is least at
// m* = sqrt(X / alpha_blk).
#include "collectives/formula/block_times.hpp"
#include "collectives/formula/uniform.hpp"
#include "collectives/schedule/double_tree.hpp"

namespace stepsim::collectives {

struct Blocks {
  double block_bytes{};
  std::int64_t blocks{};
  bool clamped = false; // options.block was larger than what one stream of blocks carries
  double short_by{};    // bytes that the last block has less than the others
  // max_plus() of all ranks entering at 0, if times_blocks(): the search has timed it.
  std::optional<double> seconds{};
};
// Returns block size and number of blocks of a pipelined algorithm (of a double tree: of the larger
// tree) and of ring_rails for broadcast and reduce: by options.block if given, else the optimum;
// one block if nothing is sent, none for 0 bytes. Empty for other algorithms. On a fabric the
// optimum is that for links as slow as the slowest path between neighbours of a ring without
// contention (ring_cost()).
[[nodiscard]] std::optional<Blocks> resolve_blocks(const Collective& collective);

// True if resolve_blocks() has to time the collective rank by rank, for 1, 2, 4, .. blocks: no
// formula gives the best number of them.
[[nodiscard]] bool times_blocks(const Collective& collective);

// Blocks and closed form of lp or double_binary_tree as functions of the bytes alone, for callers
// that ask for many sizes of one collective: whatever else they depend on is computed once. With
// c of n > 0 bytes and r = block_rule(c), bit for bit,
//     r->blocks(n) = resolve_blocks(c),   r->form(n) = closed_form(c)
class BlockRule {
public:
  [[nodiscard]] Blocks blocks(double bytes) const;
  [[nodiscard]] ClosedForm form(double bytes) const;
  // A lower bound, up to rounding, on form(bytes).seconds: the time if the number of blocks could
  // be any real number (derived). 0 = no bound is known: a block size is given, parts are whole
  // elements, or an lp is not an all-reduce with a last hop and overlapped or free additions.
  [[nodiscard]] double least_seconds(double bytes) const;
  // A line that bounds form(n).seconds from below, up to rounding, for `low` <= n <= `high` bytes;
  // the line 0 where least_seconds() is 0.
  [[nodiscard]] Line least_line(double low, double high) const;
  [[nodiscard]] bool of_tree() const { return tree_; }
  // The numbers with which best_tree() or best_pipeline() gives the time of form(), bit for bit.
  // Empty if they do not: a block size is given, parts are whole elements, additions are slower
  // than links, or an lp has no least_seconds().
  [[nodiscard]] std::optional<StreamNetwork> network() const;

private:
  friend std::optional<Blocks> resolve_blocks(const Collective& collective);
  friend std::optional<BlockRule> block_rule(const Collective& collective);
  // Returns the rule of a collective whose ranks enter together and whose best block size follows
  // from a formula, without a search.
  [[nodiscard]] static BlockRule of(const Collective& collective);
  [[nodiscard]] Blocks blocks(const Symbols& s) const;
  [[nodiscard]] bool has_least() const;
  [[nodiscard]] std::array<double, 2> least_parts(double bytes) const;

  Op op_{};
  std::uint32_t ranks_{};
  Options options_;
  bool tree_{};
  TreeDepths depths_; // used if tree_
  Symbols symbols_;   // all but n, which each call replaces by its bytes
};
// Returns the rule. Empty for other algorithms, for at most one rank, for entry times of ranks, on
// a fabric or with measured steps, for a cost form other than exact, and where the best block is
// found by a search. The bytes of `collective` are ignored.
[[nodiscard]] std::optional<BlockRule> block_rule(const Collective& collective);

} // namespace stepsim::collectives
