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
  // A line that bounds form(n).seconds from below, up to rounding, for `low` <= n <= `high` bytes;
  // it is the time if the number of blocks could be any real number (derived). The line 0 where a
  // block size is given, parts are whole elements, or an lp is not an all-reduce with a last hop
  // and overlapped or free additions.
  [[nodiscard]] Line least_line(double low, double high) const;
  [[nodiscard]] bool of_tree() const { return tree_; }
  // The numbers with which best_tree() or best_pipeline() gives the time of form(), bit for bit.
  // Empty if they do not: a block size is given, parts are whole elements, additions are slower
  // than links, or an lp has no least_line().
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

// Closed forms of streams of blocks: the linear pipeline (lp, COL 5.6), of m blocks of b bytes, the
// last of n - (m-1) b, along a chain of all ranks; and the double binary tree (COL 5.7), of which
// each tree carries half of the message, and every rank serves both in alternate slots, so that a
// block takes two slots. The block search and the closed forms use the same functions. A block
// takes tau = alpha_blk + b beta for a hop and g = b gamma for an addition; the first block of a
// message takes delta = alpha - alpha_blk longer for each hop.

// Returns the form for messages cut into `blocks`. Not empty for broadcast and reduce. Empty for an
// allreduce (COL 3 d)
//   if links have a delay;
//   with overlapped additions if g > tau, or if delta is not 0 and there is no last hop;
//   with serial additions unless delta is 0 and there is a last hop.
[[nodiscard]] std::optional<ClosedForm> lp_form(const Symbols& s, Op op, bool last_hop,
                                                const Blocks& blocks);

// Returns the seconds of an allreduce with overlapped additions slower than the hops (g > tau),
// equal blocks, a last hop and delta = 0:
//   max((2P-1) tau + (P+m-2) g, u + m tau), u = (P-1) tau + (P+m-3) g, or m tau for P = 2
// In the first term, the tail adds the last block, which then travels around; u is when the last
// sender but one has passed on all partial sums. Derived, and equal to max_plus. It is for the
// block search and planners only: max_plus times a run in this case (COL 3 d).
[[nodiscard]] double lp_allreduce_slow_additions(const Symbols& s, const Blocks& blocks);
// Returns lp_allreduce_slow_additions() with the block size of a collective, for planners that cost
// many sizes; empty if its conditions do not hold.
[[nodiscard]] std::optional<double> lp_slow_additions_seconds(const Collective& collective);

// Returns lp_form() with the block size of the collective.
[[nodiscard]] std::optional<ClosedForm> lp_exact(const Collective& collective);
// The published form (cost form `paper`): (P-1) (alpha + b beta) + n/b (alpha_blk + b beta) for
// each pipeline, of which an all-reduce has two, and ((P-1) b + n) gamma once if there are
// additions. The number of blocks, n/b, need not be whole.
[[nodiscard]] std::optional<ClosedForm> lp_paper(const Collective& collective);

// Returns the numbers of the formulas of pipelines and trees (block_times.hpp). The
// formulas of a pipeline do not read the depths.
[[nodiscard]] StreamNetwork stream_network(const Symbols& s, const TreeDepths& depths);

// Returns an upper bound, because every block is charged as one of b bytes:
//   (2(m-1) + D_r) (tau + g) + (2(m-1) + D_b) tau + (D_r + D_b) delta
// with m blocks of b bytes in the larger tree, D_r = depths.reduce and D_b = depths.broadcast. For
// P = 2 it is 2 m tau + m g + 2 delta.
[[nodiscard]] ClosedForm double_tree_form(const Symbols& s, const TreeDepths& depths,
                                          const Blocks& blocks);

// Returns double_tree_form() with the block size of the collective. Empty if links have a delay.
[[nodiscard]] std::optional<ClosedForm> double_tree_allreduce(const Collective& collective);
// The published form (cost form `paper`), 2 L alpha + n (beta + gamma) with L = ceil(log2 P). It
// leaves out that the pipeline must fill and that both trees share the slots of a rank, so it can
// be shorter than any schedule.
[[nodiscard]] std::optional<ClosedForm> double_tree_paper(const Collective& collective);
// The form for infinitely small blocks at no cost per block (cost form `ideal`):
// 2 L alpha + n (2 beta + gamma).
[[nodiscard]] std::optional<ClosedForm> double_tree_ideal(const Collective& collective);

} // namespace stepsim::collectives
