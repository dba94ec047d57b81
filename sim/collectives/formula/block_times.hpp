#pragma once
// The best number of blocks of a linear pipeline (lp, COL 5.6) and of a double binary tree
// (COL 5.7) in an all-reduce of n bytes, its time, and a lower bound of that time. They hold for
// blocks of exactly n / m bytes, additions that are no slower than links and hidden behind them,
// and links without delay. Operations have the same order as
// in closed_form_lp.cpp and closed_form_double_tree.cpp, so that times have the same bits.
#include <algorithm>
#include <array>
#include <cmath>

namespace stepsim::collectives {

inline constexpr double kSmallestBlock = 4096; // bytes; the search takes no smaller blocks
// Relative: a number of blocks whose time is less than that of a smaller number by no more than
// this loses against it.
inline constexpr double kBlockTie = 1e-12;

// One network. Seconds, and seconds per byte.
struct StreamNetwork {
  double P{};         // ranks
  double alpha_blk{}; // of each block
  double delta{};     // more of the first block of a message
  double beta{}, gamma{};
  double reduce_slots{}, broadcast_slots{}; // D_r and D_b of a tree (double_tree.hpp)
};

struct BestBlocks {
  double count{};
  double seconds{};
};

// Returns the largest number of blocks in a stream of that many bytes.
[[nodiscard]] inline double most_blocks(double stream_bytes) {
  return std::max(1.0, std::floor(stream_bytes / kSmallestBlock));
}

// The whole numbers next to sqrt(x / alpha_blk), inside [low, high]; twice 1 where x is not
// positive, which is among the candidates anyway.
struct BlocksAround {
  double below{}, above{};
};
[[nodiscard]] inline BlocksAround blocks_around(double x, double alpha_blk, double low,
                                                double high) {
  const double root = std::sqrt(x / alpha_blk);
  const double best = alpha_blk > 0 ? std::min(root, high) : high;
  const double below = std::floor(best);
  const double above = below < best ? below + 1 : below;
  return {x > 0 ? std::min(std::max(below, low), high) : 1,
          x > 0 ? std::min(std::max(above, low), high) : 1};
}

// Returns the seconds of a pipeline of m blocks of `block` bytes; an upper bound if the last one is
// shorter.
[[nodiscard]] inline double pipeline_seconds(const StreamNetwork& s, double block, double m) {
  const double tau = s.alpha_blk + block * s.beta;
  const double g = block * s.gamma;
  const double port_free = m * tau + (s.P - 2) * g + (s.P - 1) * s.delta;
  const double block_ready = s.P * tau + (s.P - 1) * g + s.P * s.delta;
  return std::max(port_free, block_ready) + (m + s.P - 2) * tau;
}

// Keeps the best of two numbers of blocks, of which `count` is not the smaller.
inline void consider_pipeline(const StreamNetwork& s, double n, double count, BestBlocks& best) {
  const double seconds = pipeline_seconds(s, n / count, count);
  const bool takes = seconds < best.seconds * (1 - kBlockTie);
  best.count = takes ? count : best.count;
  best.seconds = takes ? seconds : best.seconds;
}

// What the two searches below share: `few` are the numbers next to the optimum below `ranks`
// blocks, and the optimum above them is sqrt(x_many / alpha_blk).
struct PipelineOptima {
  double most{};  // number of blocks
  double ranks{}; // P, or fewer if there are not so many blocks
  BlocksAround few;
  double x_many{};
};
[[nodiscard]] inline PipelineOptima pipeline_optima(const StreamNetwork& s, double n) {
  const double most = most_blocks(n);
  const double wire = n * s.beta;
  const double add = n * s.gamma;
  const double ranks = std::min(s.P, most);
  return {most, ranks, blocks_around((2 * s.P - 2) * wire + (s.P - 1) * add, s.alpha_blk, 1, ranks),
          (s.P - 2) * (wire + add) / 2};
}

// Returns the fewest of the cheapest blocks among 1, P - 1 to P + 1, and the numbers next to the
// optima below and above P blocks (COL 7). Up to P blocks the second term of pipeline_seconds() is
// the larger one, and from P + 1 on the first if delta is 0. Both fall to their optimum and rise
// behind it, so that only the numbers next to an optimum can be the best; if the second optimum is
// not above P, it is P + 1 that stands for it.
[[nodiscard]] inline BestBlocks best_even_pipeline(const StreamNetwork& s, double n) {
  const auto [most, ranks, few, x_many] = pipeline_optima(s, n);
  const BlocksAround many = blocks_around(x_many, s.alpha_blk, std::min(s.P + 1, most), most);
  BestBlocks best{few.below, pipeline_seconds(s, n / few.below, few.below)};
  consider_pipeline(s, n, few.above, best);
  consider_pipeline(s, n, std::max(many.below, std::min(s.P + 1, most)), best);
  consider_pipeline(s, n, std::max(many.above, std::min(s.P + 1, most)), best);
  return best;
}

// The same for any delta, by trying all of these numbers.
[[nodiscard]] inline BestBlocks best_uneven_pipeline(const StreamNetwork& s, double n) {
  const auto [most, ranks, few, x_many] = pipeline_optima(s, n);
  const BlocksAround many = blocks_around(x_many, s.alpha_blk, s.P, most);
  std::array counts{1.0,
                    std::min(s.P - 1, most),
                    ranks,
                    std::min(s.P + 1, most),
                    few.below,
                    few.above,
                    most >= s.P ? many.below : 1,
                    most >= s.P ? many.above : 1};
  std::ranges::sort(counts);
  BestBlocks best{counts[0], pipeline_seconds(s, n / counts[0], counts[0])};
  for (const double count : counts) {
    consider_pipeline(s, n, count, best);
  }
  return best;
}

[[nodiscard]] inline BestBlocks best_pipeline(const StreamNetwork& s, double n) {
  return s.delta == 0 ? best_even_pipeline(s, n) : best_uneven_pipeline(s, n);
}

// Returns the seconds of a tree whose halves have m blocks of `block` bytes; an upper bound (COL
// 5.7).
[[nodiscard]] inline double tree_seconds(const StreamNetwork& s, double block, double m) {
  const double tau = s.alpha_blk + block * s.beta;
  const double g = block * s.gamma;
  const double two = 2 * m * tau + m * g + 2 * s.delta;
  const double more = (2 * (m - 1) + s.reduce_slots) * (tau + g) +
                      (2 * (m - 1) + s.broadcast_slots) * tau +
                      (s.reduce_slots + s.broadcast_slots) * s.delta;
  return s.P == 2 ? two : more;
}

// The fewest of the cheapest blocks among 1 and the numbers next to the optimum (COL 7).
[[nodiscard]] inline BestBlocks best_tree(const StreamNetwork& s, double n) {
  const double stream = n / 2;
  const double x =
      ((s.reduce_slots + s.broadcast_slots - 4) * n * s.beta + (s.reduce_slots - 2) * n * s.gamma) /
      8;
  const BlocksAround around = blocks_around(x, s.alpha_blk, 1, most_blocks(stream));
  BestBlocks best{1, tree_seconds(s, stream, 1)};
  const auto consider = [&](double count) {
    const double seconds = tree_seconds(s, stream / count, count);
    const bool takes = seconds < best.seconds * (1 - kBlockTie);
    best.count = takes ? count : best.count;
    best.seconds = takes ? seconds : best.seconds;
  };
  consider(around.below), consider(around.above);
  return best;
}

// The least of per_block m + x / m for real m >= 1, concave in x.
[[nodiscard]] inline double least_term(double per_block, double x) {
  return x <= per_block ? per_block + x : 2 * std::sqrt(per_block * x);
}

// Two concave functions of n that the time of the best blocks is never below, up to rounding: the
// terms under the maximum of a pipeline with any real number of blocks; of a tree they are equal.
struct LeastTimes {
  double port_free{}, block_ready{};
};
[[nodiscard]] inline LeastTimes least_pipeline(const StreamNetwork& s, double n) {
  const double wire = n * s.beta;
  const double add = n * s.gamma;
  return {(s.P - 2) * s.alpha_blk + 2 * wire + (s.P - 1) * s.delta +
              least_term(2 * s.alpha_blk, (s.P - 2) * (wire + add)),
          (2 * s.P - 2) * s.alpha_blk + wire + s.P * s.delta +
              least_term(s.alpha_blk, (2 * s.P - 2) * wire + (s.P - 1) * add)};
}
[[nodiscard]] inline LeastTimes least_tree(const StreamNetwork& s, double n) {
  const double stream = n / 2;
  const double slots = s.reduce_slots + s.broadcast_slots;
  const double x = stream * ((slots - 4) * s.beta + (s.reduce_slots - 2) * s.gamma);
  const double two = 2 * s.alpha_blk + stream * (2 * s.beta + s.gamma) + 2 * s.delta;
  const double more = (slots - 4) * s.alpha_blk + stream * (4 * s.beta + 2 * s.gamma) +
                      slots * s.delta + least_term(4 * s.alpha_blk, x);
  const double seconds = s.P == 2 ? two : more;
  return {seconds, seconds};
}

} // namespace stepsim::collectives
