// Block size of the pipelined algorithms (COL 7): the cheapest of the splits around the real-valued
// optimum m* = sqrt(X / alpha_blk) of each region of the closed form; a search over 1, 2, 4, ..
// blocks where the optimum is not known.
#include "coll/formula/blocks.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <vector>

#include "coll/algorithms.hpp"
#include "coll/evaluate/fabric_links.hpp"
#include "coll/evaluate/max_plus.hpp"
#include "coll/formula/closed_form.hpp"
#include "coll/formula/closed_form_double_tree.hpp"
#include "coll/formula/closed_form_lp.hpp"
#include "coll/formula/symbols.hpp"
#include "coll/formula/uniform.hpp"
#include "coll/schedule/double_tree.hpp"
#include "coll/schedule/partition.hpp"

namespace stepsim::coll {
namespace {

constexpr double kTie = 1e-12; // relative; ties go to the larger block

// Bytes of the largest stream of blocks: all of them for lp, half of the elements for a tree.
double stream_bytes(const Collective& collective) {
  const Index streams = algorithm(collective.algorithm).block_streams;
  return Partition::equal(total_bytes(collective), streams, collective.options).bytes(0, 1);
}

Blocks given_block(double stream, double block) {
  const double b = std::min(block, stream);
  return {b, static_cast<std::int64_t>(std::ceil(stream / b)), block > stream};
}

// m blocks; whole elements per block unless chunking is real.
Blocks split(const Collective& collective, double stream, std::int64_t m) {
  const double blocks = static_cast<double>(m);
  if (collective.options.chunking == Chunking::real) {
    return {stream / blocks, m, false};
  }
  const double element = static_cast<double>(collective.options.element_bytes);
  return given_block(stream, std::min(stream, element * std::ceil(stream / (element * blocks))));
}

std::int64_t most_blocks(double stream) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(stream / kSmallestBlock));
}

// Whole numbers around sqrt(x / alpha_blk), inside [low, high].
void add_around(std::vector<std::int64_t>& counts, double x, double alpha_blk, std::int64_t low,
                std::int64_t high) {
  if (x <= 0) {
    return;
  }
  const double top = static_cast<double>(high);
  const double best = alpha_blk > 0 ? std::min(std::sqrt(x / alpha_blk), top) : top;
  for (const double count : {std::floor(best), std::ceil(best)}) {
    counts.push_back(std::clamp(static_cast<std::int64_t>(count), low, high));
  }
}

std::vector<std::int64_t> lp_counts(const Collective& collective, const Symbols& s) {
  const std::int64_t most = most_blocks(s.n);
  const double wire = s.n * s.beta;
  const double add = s.n * s.gamma;
  std::vector<std::int64_t> counts{1};
  if (collective.op == Op::broadcast) {
    add_around(counts, (s.P - 2) * wire, s.alpha_blk, 1, most);
    return counts;
  }
  if (collective.op == Op::reduce) {
    const double x = s.serial ? (s.P - 2) * (wire + add) : (s.P - 2) * wire + (s.P - 1) * add;
    add_around(counts, x, s.alpha_blk, 1, most);
    return counts;
  }
  const std::int64_t ranks = collective.ranks;
  for (const std::int64_t count : {ranks - 1, ranks, ranks + 1}) {
    counts.push_back(std::min(count, most));
  }
  const double few =
      s.serial ? (2 * s.P - 2) * wire + (s.P - 2) * add : (2 * s.P - 2) * wire + (s.P - 1) * add;
  add_around(counts, few, s.alpha_blk, 1, std::min(ranks, most));
  if (most >= ranks) {
    add_around(counts, (s.P - 2) * (wire + add) / 2, s.alpha_blk, ranks, most);
  }
  return counts;
}

std::vector<std::int64_t> tree_counts(const Symbols& s, const TreeDepths& depths, double stream) {
  std::vector<std::int64_t> counts{1};
  const double x = ((depths.reduce + depths.broadcast - 4) * s.n * s.beta +
                    (depths.reduce - 2) * s.n * s.gamma) /
                   8;
  add_around(counts, x, s.alpha_blk, 1, most_blocks(stream));
  return counts;
}

// b* of the printed forms, real-valued.
Blocks paper_blocks(const Collective& collective, const Symbols& s) {
  const double pipelines = collective.op == Op::allreduce ? 2 : 1;
  const double gamma = collective.op == Op::broadcast ? 0 : s.gamma;
  const double per_byte = (s.P - 1) * (pipelines * s.beta + gamma);
  const double best = std::sqrt(pipelines * s.n * s.alpha_blk / per_byte);
  return given_block(s.n, std::min(std::max(best, kSmallestBlock), s.n));
}

// The cheapest split into one of `counts` blocks; `cost` may know no time for some.
template <class Cost>
Blocks cheapest(const Collective& collective, double stream, std::vector<std::int64_t> counts,
                Cost cost) {
  std::sort(counts.begin(), counts.end());
  Blocks best = split(collective, stream, 1);
  std::optional<double> best_s;
  for (const std::int64_t count : counts) {
    const Blocks blocks = split(collective, stream, count);
    const std::optional<ClosedForm> form = cost(blocks);
    if (form && (!best_s || form->seconds < *best_s * (1 - kTie))) {
      best = blocks;
      best_s = form->seconds;
    }
  }
  return best;
}

// Time of one block size, all ranks entering at 0.
double time_with(const Collective& together, const Blocks& blocks) {
  Collective trial = together;
  trial.options.cost_form = CostForm::exact;
  trial.options.block = Bytes{static_cast<std::int64_t>(std::ceil(blocks.block_bytes))};
  if (trial.algorithm == AlgorithmId::lp && trial.homogeneous()) {
    if (const std::optional<ClosedForm> form = closed_form(trial)) {
      return form->seconds;
    }
    const Symbols s = symbols(trial);
    if (!s.serial && s.alpha == s.alpha_blk && trial.options.lp_last_hop) {
      return lp_allreduce_slow_additions(s, blocks);
    }
  }
  return max_plus(trial).seconds;
}

// 1, 2, 4, .. and the most blocks, of whole bytes, until the time rises: as the largest of terms
// A + B m + C / m it falls, then rises.
Blocks search_doubling(const Collective& together, double stream) {
  Collective whole = together;
  whole.options.chunking = Chunking::integer;
  Blocks best = split(whole, stream, 1);
  double best_s = time_with(together, best);
  const std::int64_t most = most_blocks(stream);
  for (std::int64_t m = 1; m < most;) {
    m = std::min(2 * m, most);
    const Blocks blocks = split(whole, stream, m);
    const double seconds = time_with(together, blocks);
    if (seconds >= best_s * (1 - kTie)) {
      break;
    }
    best = blocks;
    best_s = seconds;
  }
  return best;
}

// No formula for the optimum: unequal links or ranks, additions slower than the wire, delays in a
// tree, or an allreduce outside the cases of `lp_form`.
bool needs_search(const Collective& together) {
  if (!together.homogeneous()) {
    return true;
  }
  const Symbols s = symbols(together);
  if (together.op != Op::broadcast && s.gamma > s.beta) {
    return true;
  }
  if (together.algorithm != AlgorithmId::lp && s.delay > 0) {
    return true;
  }
  if (together.algorithm != AlgorithmId::lp || together.op != Op::allreduce) {
    return false;
  }
  const Blocks one{s.n, 1, false};
  return !lp_form(s, together.op, together.options.lp_last_hop, one);
}

} // namespace

std::optional<Blocks> resolve_blocks(const Collective& collective) {
  if (collective.links.measured) { // the best blocks are those of latency and bandwidth
    Collective plain = collective;
    plain.links.measured.reset();
    return resolve_blocks(plain);
  }
  if (const auto blocks = algorithm(collective.algorithm).node_blocks) {
    return blocks(collective);
  }
  if (algorithm(collective.algorithm).block_streams == 0) {
    return std::nullopt;
  }
  if (find_algorithm(collective.op, collective.algorithm) == nullptr) {
    return std::nullopt;
  }
  const double stream = stream_bytes(collective);
  if (is_empty(collective)) {
    return Blocks{stream, stream > 0 ? 1 : 0, false};
  }
  if (collective.options.block) {
    return given_block(stream, static_cast<double>(collective.options.block->value));
  }
  Collective together = collective;
  together.enter_s.clear();
  if (together.links.fabric) { // as if every way were the slowest between neighbours
    together.links = {.all = ring_cost(collective.links, {.count = collective.ranks})};
  }
  if (needs_search(together) && collective.options.cost_form == CostForm::exact) {
    return search_doubling(together, stream);
  }
  const Symbols s = symbols(together);
  const bool tree = algorithm(collective.algorithm).block_streams == 2;
  if (!tree && collective.options.cost_form == CostForm::paper) {
    return paper_blocks(collective, s);
  }
  if (tree) {
    const TreeDepths depths = double_tree_depths(collective.ranks);
    return cheapest(collective, stream, tree_counts(s, depths, stream),
                    [&](const Blocks& blocks) -> std::optional<ClosedForm> {
                      return double_tree_form(s, depths, blocks);
                    });
  }
  return cheapest(collective, stream, lp_counts(collective, s), [&](const Blocks& blocks) {
    return lp_form(s, collective.op, collective.options.lp_last_hop, blocks);
  });
}

} // namespace stepsim::coll
