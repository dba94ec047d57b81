// Double binary tree (COL 5.7): each tree pipelines half of the message up and down; every rank
// serves both trees in alternate slots, two slots per block.
#include "coll/formula/closed_form_double_tree.hpp"

#include <algorithm>
#include <cassert>

namespace stepsim::coll {

ClosedForm double_tree_form(const Symbols& s, const TreeDepths& depths, const Blocks& blocks) {
  const double m = static_cast<double>(blocks.blocks);
  const double b = blocks.block_bytes;
  const double tau = s.alpha_blk + b * s.beta;
  const double g = b * s.gamma;
  const double delta = s.alpha - s.alpha_blk;
  ClosedForm form;
  form.upper_bound = true;
  form.seconds = s.P == 2 ? 2 * m * tau + m * g + 2 * delta
                          : (2 * (m - 1) + depths.reduce) * (tau + g) +
                                (2 * (m - 1) + depths.broadcast) * tau +
                                (depths.reduce + depths.broadcast) * delta;
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

} // namespace stepsim::coll
