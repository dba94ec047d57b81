#include "collectives/formula/uniform.hpp"

#include <algorithm>

#include "collectives/node_ranks.hpp"

namespace stepsim::collectives {

NodeShape node_shape(const Collective& collective) {
  const TwoLevel two = collective.links.two_level.value_or(TwoLevel{});
  const NodeRanks nodes(two, collective.ranks);
  NodeShape shape;
  shape.nodes = nodes.nodes();
  shape.gpus = nodes.largest();
  shape.cards = std::min(two.nics_per_node, shape.gpus);
  shape.sharing = ranks_per_interface(collective);
  shape.equal_nodes = nodes.equal();
  shape.intra = two.intra;
  shape.inter = collective.links.all;
  return shape;
}

bool has_delays(const NodeShape& shape) {
  return (shape.gpus > 1 && shape.intra.delay_s > 0) ||
         (shape.nodes > 1 && shape.inter.delay_s > 0);
}

std::optional<Line> upper_line(const Line& a, const Line& b) {
  if (a.startup_s >= b.startup_s && a.per_byte_s >= b.per_byte_s) {
    return a;
  }
  if (b.startup_s >= a.startup_s && b.per_byte_s >= a.per_byte_s) {
    return b;
  }
  return std::nullopt;
}

} // namespace stepsim::collectives
