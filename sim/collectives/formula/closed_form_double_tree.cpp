// Double binary tree (COL 5.7): each tree pipelines half of the message up and down; every rank
// serves both trees in alternate slots, two slots per block.
#include "collectives/formula/blocks.hpp"

namespace stepsim::collectives {

StreamNetwork stream_network(const Symbols& s, const TreeDepths& depths) {
  return {.P = s.P,
          .alpha_blk = s.alpha_blk,
          .delta = s.alpha - s.alpha_blk,
          .beta = s.beta,
          .gamma = s.gamma,
          .reduce_slots = depths.reduce,
          .broadcast_slots = depths.broadcast};
}

ClosedForm double_tree_form(const Symbols& s, const TreeDepths& depths, const Blocks& blocks) {
  ClosedForm form;
  form.upper_bound = true;
  // The last block has the last two slots of each phase for itself; P = 2 sends it twice.
  const double last_slots = s.P == 2 ? 2 * s.beta + s.gamma : 4 * s.beta + 2 * s.gamma;
  form.seconds = tree_seconds(stream_network(s, depths), blocks.block_bytes,
                              static_cast<double>(blocks.blocks)) -
                 blocks.short_by * last_slots;
  return form;
}

// Streams of both trees share ports, so that delays of one may be hidden behind the other.
std::optional<ClosedForm> double_tree_allreduce(const Collective& collective) {
  const Symbols s = symbols(collective);
  if (s.delay > 0) {
    return std::nullopt;
  }
  return double_tree_form(s, double_tree_depths(collective.ranks), *resolve_blocks(collective));
}

std::optional<ClosedForm> double_tree_paper(const Collective& collective) {
  const Symbols s = symbols(collective);
  return linear_form(2 * s.L * s.alpha, s.beta + s.gamma, s.n);
}

std::optional<ClosedForm> double_tree_ideal(const Collective& collective) {
  const Symbols s = symbols(collective);
  return linear_form(2 * s.L * s.alpha, 2 * s.beta + s.gamma, s.n);
}

} // namespace stepsim::collectives
