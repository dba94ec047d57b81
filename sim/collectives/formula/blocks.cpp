// Block size of the pipelined algorithms (COL 7): the cheapest of the splits around the real-valued
// optimum m* = sqrt(X / alpha_blk) of each region of the closed form; a search over 1, 2, 4, ..
// blocks where the optimum is not known.
#include "collectives/formula/blocks.hpp"

#include "collectives/algorithms.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/evaluate/link_costs.hpp"
#include "collectives/schedule/partition.hpp"

namespace stepsim::collectives {
namespace {

// Numbers of blocks to try: one, and a few around the optimum of every region.
struct Counts {
  std::array<std::int64_t, 8> values{1};
  std::size_t size = 1;
  void add(std::int64_t count) { values[size++] = count; }
};

// Bytes of the largest stream of blocks: all of them for lp, half of the elements for a tree.
double stream_bytes(double bytes, Index streams, const Options& options) {
  if (options.chunking == Chunking::real) {
    return bytes / static_cast<double>(streams);
  }
  return Partition::equal(bytes, streams, options).bytes(0, 1);
}

Blocks given_block(double stream, double block) {
  const double b = std::min(block, stream);
  const double count = std::ceil(stream / b);
  return {b, static_cast<std::int64_t>(count), block > stream, count * b - stream};
}

// m blocks; whole elements per block unless chunking is real.
Blocks split(const Options& options, double stream, std::int64_t m) {
  const double blocks = static_cast<double>(m);
  if (options.chunking == Chunking::real) {
    return {stream / blocks, m, false};
  }
  const double element = static_cast<double>(options.element_bytes);
  return given_block(stream, std::min(stream, element * std::ceil(stream / (element * blocks))));
}

std::int64_t most_whole_blocks(double stream) {
  return static_cast<std::int64_t>(most_blocks(stream));
}

void add_around(Counts& counts, double x, double alpha_blk, std::int64_t low, std::int64_t high) {
  const BlocksAround around =
      blocks_around(x, alpha_blk, static_cast<double>(low), static_cast<double>(high));
  counts.add(static_cast<std::int64_t>(around.below));
  counts.add(static_cast<std::int64_t>(around.above));
}

Counts lp_counts(Op op, std::int64_t ranks, const Symbols& s) {
  const std::int64_t most = most_whole_blocks(s.n);
  const double wire = s.n * s.beta;
  const double add = s.n * s.gamma;
  Counts counts;
  if (op == Op::broadcast) {
    add_around(counts, (s.P - 2) * wire, s.alpha_blk, 1, most);
    return counts;
  }
  if (op == Op::reduce) {
    const double x = s.serial ? (s.P - 2) * (wire + add) : (s.P - 2) * wire + (s.P - 1) * add;
    add_around(counts, x, s.alpha_blk, 1, most);
    return counts;
  }
  for (const std::int64_t count : {ranks - 1, ranks, ranks + 1}) {
    counts.add(std::min(count, most));
  }
  const double few =
      s.serial ? (2 * s.P - 2) * wire + (s.P - 2) * add : (2 * s.P - 2) * wire + (s.P - 1) * add;
  add_around(counts, few, s.alpha_blk, 1, std::min(ranks, most));
  if (most >= ranks) {
    add_around(counts, (s.P - 2) * (wire + add) / 2, s.alpha_blk, ranks, most);
  }
  return counts;
}

Counts tree_counts(const Symbols& s, const TreeDepths& depths, double stream) {
  Counts counts;
  const double x = ((depths.reduce + depths.broadcast - 4) * s.n * s.beta +
                    (depths.reduce - 2) * s.n * s.gamma) /
                   8;
  add_around(counts, x, s.alpha_blk, 1, most_whole_blocks(stream));
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
Blocks cheapest(const Options& options, double stream, Counts counts, Cost cost) {
  std::sort(counts.values.begin(), counts.values.begin() + counts.size);
  Blocks best = split(options, stream, 1);
  std::optional<double> best_s;
  std::int64_t tried = 0;
  for (std::size_t i = 0; i < counts.size; ++i) {
    if (counts.values[i] == tried) {
      continue;
    }
    tried = counts.values[i];
    const Blocks blocks = split(options, stream, tried);
    const std::optional<ClosedForm> form = cost(blocks);
    if (form && (!best_s || form->seconds < *best_s * (1 - kBlockTie))) {
      best = blocks;
      best_s = form->seconds;
    }
  }
  return best;
}

// An all-reduce by lp of equal links has a formula for additions slower than the wire.
bool has_slow_additions_form(const Collective& together, const Symbols& s) {
  return together.op == Op::allreduce && !s.serial && s.alpha == s.alpha_blk &&
         together.options.lp_last_hop;
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
    if (has_slow_additions_form(trial, s)) {
      return lp_allreduce_slow_additions(s, blocks);
    }
  }
  return max_plus(trial).seconds;
}

// 1, 2, 4, .. and the most blocks, of whole bytes, until the time rises: as the largest of terms
// A + B m + C / m it falls, then rises.
Blocks search_doubling(const Collective& together, double stream) {
  Collective whole = together;
  if (std::exchange(whole.options.chunking, Chunking::integer) == Chunking::real) {
    whole.options.element_bytes = 1;
  }
  Blocks best = split(whole.options, stream, 1);
  double best_s = time_with(together, best);
  const std::int64_t most = most_whole_blocks(stream);
  for (std::int64_t m = 1; m < most;) {
    m = std::min(2 * m, most);
    const Blocks blocks = split(whole.options, stream, m);
    const double seconds = time_with(together, blocks);
    if (seconds >= best_s * (1 - kBlockTie)) {
      break;
    }
    best = blocks;
    best_s = seconds;
  }
  best.seconds = best_s;
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

bool is_tree(const Collective& collective) {
  return algorithm(collective.algorithm).block_streams == 2;
}

// The line through two points of a concave function, which is below it between them.
Line chord(double low, double low_s, double high, double high_s) {
  const double slope = high > low ? (high_s - low_s) / (high - low) : 0;
  return {low_s - slope * low, slope};
}

// On a fabric as if every way were the slowest between neighbours.
Collective entering_together(const Collective& collective) {
  Collective together = collective;
  together.enter_s.clear();
  if (together.links.fabric) {
    together.links = {.all = ring_cost(collective.links, {.count = collective.ranks})};
  }
  return together;
}

} // namespace

BlockRule BlockRule::of(const Collective& collective) {
  BlockRule rule;
  rule.op_ = collective.op;
  rule.ranks_ = collective.ranks;
  rule.options_ = collective.options;
  rule.tree_ = is_tree(collective);
  rule.depths_ = rule.tree_ ? double_tree_depths(collective.ranks) : TreeDepths{};
  rule.symbols_ = symbols(collective);
  return rule;
}

Blocks BlockRule::blocks(const Symbols& s) const {
  const double stream = stream_bytes(s.n, tree_ ? 2 : 1, options_);
  if (options_.block) {
    return given_block(stream, static_cast<double>(options_.block->value));
  }
  if (has_least() && s.delay == 0 && s.gamma <= s.beta) {
    const StreamNetwork network = stream_network(s, depths_);
    const double count = tree_ ? best_tree(network, s.n).count : best_pipeline(network, s.n).count;
    return {stream / count, static_cast<std::int64_t>(count), false};
  }
  if (tree_) {
    return cheapest(options_, stream, tree_counts(s, depths_, stream),
                    [&](const Blocks& blocks) -> std::optional<ClosedForm> {
                      return double_tree_form(s, depths_, blocks);
                    });
  }
  return cheapest(options_, stream, lp_counts(op_, ranks_, s), [&](const Blocks& blocks) {
    return lp_form(s, op_, options_.lp_last_hop, blocks);
  });
}

Blocks BlockRule::blocks(double bytes) const {
  Symbols s = symbols_;
  s.n = bytes;
  return blocks(s);
}

ClosedForm BlockRule::form(double bytes) const {
  Symbols s = symbols_;
  s.n = bytes;
  const Blocks cut = blocks(s);
  return tree_ ? double_tree_form(s, depths_, cut) : *lp_form(s, op_, options_.lp_last_hop, cut);
}

bool BlockRule::has_least() const {
  const bool plain = options_.chunking == Chunking::real && !options_.block;
  const bool pipeline =
      op_ == Op::allreduce && options_.lp_last_hop && !(symbols_.serial && symbols_.gamma > 0);
  return plain && (tree_ || pipeline);
}

std::array<double, 2> BlockRule::least_parts(double bytes) const {
  const StreamNetwork network = stream_network(symbols_, depths_);
  const LeastTimes least = tree_ ? least_tree(network, bytes) : least_pipeline(network, bytes);
  return {least.port_free, least.block_ready};
}

std::optional<StreamNetwork> BlockRule::network() const {
  const bool plain = has_least() && symbols_.delay == 0 && symbols_.gamma <= symbols_.beta;
  return plain ? std::optional(stream_network(symbols_, depths_)) : std::nullopt;
}

Line BlockRule::least_line(double low, double high) const {
  if (!has_least()) {
    return {};
  }
  const std::array<double, 2> from = least_parts(low);
  const std::array<double, 2> to = least_parts(high);
  const std::size_t larger = from[0] + to[0] >= from[1] + to[1] ? 0 : 1;
  return chord(low, from[larger], high, to[larger]);
}

// Whether a search is needed does not depend on the bytes: needs_search compares rates, and asks
// lp_form of one block, whose conditions hold for all sizes if additions are no slower than links.
std::optional<BlockRule> block_rule(const Collective& collective) {
  Collective probe = collective;
  probe.bytes = 1;
  const bool in_blocks = algorithm(probe.algorithm).block_streams > 0 &&
                         find_algorithm(probe.op, probe.algorithm) != nullptr;
  if (!in_blocks || probe.ranks <= 1 || !probe.enter_s.empty() || probe.links.measured ||
      probe.links.fabric || probe.options.cost_form != CostForm::exact || needs_search(probe)) {
    return std::nullopt;
  }
  return BlockRule::of(probe);
}

bool times_blocks(const Collective& collective) {
  if (algorithm(collective.algorithm).block_streams == 0 || collective.options.block ||
      collective.options.cost_form != CostForm::exact || is_empty(collective)) {
    return false;
  }
  Collective together = entering_together(collective);
  together.links.measured.reset();
  if (!needs_search(together)) {
    return false;
  }
  return is_tree(together) || !together.homogeneous() ||
         !has_slow_additions_form(together, symbols(together));
}

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
  const double stream = stream_bytes(
      total_bytes(collective), algorithm(collective.algorithm).block_streams, collective.options);
  if (is_empty(collective)) {
    return Blocks{stream, stream > 0 ? 1 : 0, false};
  }
  if (collective.options.block) {
    return given_block(stream, static_cast<double>(collective.options.block->value));
  }
  const Collective together = entering_together(collective);
  if (needs_search(together) && collective.options.cost_form == CostForm::exact) {
    return search_doubling(together, stream);
  }
  if (!is_tree(together) && collective.options.cost_form == CostForm::paper) {
    return paper_blocks(collective, symbols(together));
  }
  return BlockRule::of(together).blocks(total_bytes(together));
}

} // namespace stepsim::collectives
