// Linear pipeline (COL 5.6): m blocks travel along a chain of all ranks, one tau per hop. Whatever
// chain of ports and data is the longest, it passes P - 1 hops, each of which adds its delay once:
// a delay counts as a latency of first blocks. In an all-reduce, chains that turn at the tail pass
// more hops than those that wait for a port, and no formula is known.
#include "collectives/formula/blocks.hpp"

#include <cassert>

namespace stepsim::collectives {
namespace {

struct BlockTimes {
  double m{};
  double block_bytes{};
  double tau{};      // hop of a whole block
  double g{};        // its addition
  double tau_last{}; // the same of the last block
  double g_last{};
  double delta{};
  bool short_last{};
};

BlockTimes block_times(const Symbols& s, const Blocks& blocks) {
  BlockTimes t;
  t.m = static_cast<double>(blocks.blocks);
  t.block_bytes = blocks.block_bytes;
  const double last = s.n - (t.m - 1) * blocks.block_bytes;
  // n / m as a real block leaves a remainder of rounding errors only.
  t.short_last = blocks.block_bytes - last > 1e-9 * blocks.block_bytes;
  t.tau = s.alpha_blk + blocks.block_bytes * s.beta;
  t.g = blocks.block_bytes * s.gamma;
  t.tau_last = s.alpha_blk + last * s.beta;
  t.g_last = last * s.gamma;
  t.delta = s.alpha - s.alpha_blk;
  return t;
}

double broadcast_time(const Symbols& s, const BlockTimes& t) {
  return (t.m + s.P - 3) * t.tau + t.tau_last + (s.P - 1) * t.delta;
}

// The tail's port is the bottleneck if g <= tau, else its addition is.
double reduce_time(const Symbols& s, const BlockTimes& t) {
  const double first_blocks = (s.P - 1) * t.delta;
  if (t.m == 1) {
    return (s.P - 1) * (t.tau_last + t.g_last) + first_blocks;
  }
  if (s.serial) {
    return (t.m + s.P - 3) * (t.tau + t.g) + t.tau_last + t.g_last + first_blocks;
  }
  if (t.g <= t.tau) {
    return (t.m + s.P - 3) * t.tau + (s.P - 2) * t.g + std::max(t.tau_last, t.g) + t.g_last +
           first_blocks;
  }
  return (s.P - 1) * t.tau + (t.m + s.P - 3) * t.g + t.g_last + first_blocks;
}

// A finished block starts its return once the tail has it, and every send port has sent all its
// reduce blocks before: the larger of the two terms under max.
std::optional<double> allreduce_time(const Symbols& s, const BlockTimes& t, bool last_hop) {
  if (s.delay > 0) {
    return std::nullopt;
  }
  const bool serial = s.serial && s.gamma > 0;
  if (serial && t.delta == 0 && last_hop) {
    return (t.m + s.P - 2) * (t.tau + t.g) + std::max(t.m, s.P) * t.tau;
  }
  if (serial || t.g > t.tau || (!last_hop && t.delta != 0)) {
    return std::nullopt;
  }
  if (last_hop) {
    return pipeline_seconds(stream_network(s, {}), t.block_bytes, t.m);
  }
  if (s.P == 2) {
    return (t.m + 1) * t.tau + t.g;
  }
  const double port_free = t.m * t.tau + (s.P - 3) * t.g;
  const double block_ready = s.P * t.tau + (s.P - 1) * t.g;
  return std::max(port_free, block_ready) + (t.m + s.P - 3) * t.tau;
}

} // namespace

std::optional<ClosedForm> lp_form(const Symbols& s, Op op, bool last_hop, const Blocks& blocks) {
  const BlockTimes t = block_times(s, blocks);
  ClosedForm form;
  if (op == Op::broadcast) {
    form.seconds = broadcast_time(s, t);
    return form;
  }
  if (op == Op::reduce) {
    form.seconds = reduce_time(s, t);
    return form;
  }
  assert(op == Op::allreduce);
  const std::optional<double> seconds = allreduce_time(s, t, last_hop);
  if (!seconds) {
    return std::nullopt;
  }
  form.seconds = *seconds;
  form.upper_bound = t.short_last;
  return form;
}

double lp_allreduce_slow_additions(const Symbols& s, const Blocks& blocks) {
  const BlockTimes t = block_times(s, blocks);
  const double sums_passed = s.P == 2 ? t.m * t.tau : (s.P - 1) * t.tau + (s.P + t.m - 3) * t.g;
  return std::max((2 * s.P - 1) * t.tau + (s.P + t.m - 2) * t.g, sums_passed + t.m * t.tau);
}

std::optional<double> lp_slow_additions_seconds(const Collective& collective) {
  const Options& options = collective.options;
  if (collective.algorithm != AlgorithmId::lp || collective.op != Op::allreduce ||
      options.cost_form != CostForm::exact || !options.lp_last_hop || !collective.homogeneous()) {
    return std::nullopt;
  }
  const Symbols s = symbols(collective);
  const Blocks blocks = *resolve_blocks(collective);
  const BlockTimes t = block_times(s, blocks);
  if (s.serial || t.delta != 0 || t.g <= t.tau) {
    return std::nullopt;
  }
  return lp_allreduce_slow_additions(s, blocks);
}

std::optional<ClosedForm> lp_exact(const Collective& collective) {
  return lp_form(symbols(collective), collective.op, collective.options.lp_last_hop,
                 *resolve_blocks(collective));
}

// (P - 1 + n/b) tau(b) per pipeline, linear in n for a given block.
std::optional<ClosedForm> lp_paper(const Collective& collective) {
  const Symbols s = symbols(collective);
  const double pipelines = collective.op == Op::allreduce ? 2 : 1;
  const double gamma = collective.op == Op::broadcast ? 0 : s.gamma;
  const Blocks blocks = *resolve_blocks(collective);
  const double b = blocks.block_bytes;
  const double per_byte = pipelines * (s.alpha_blk / b + s.beta) + gamma;
  const double fill = (s.P - 1) * (pipelines * (s.alpha + b * s.beta) + b * gamma);
  ClosedForm form = linear_form(fill, per_byte, s.n);
  if (!collective.options.block || blocks.clamped) {
    form.startup_s = form.per_byte_s = std::nullopt;
  }
  return form;
}

} // namespace stepsim::collectives
