// Two levels (COL 5.9): the flat closed forms of each level, one after the other.
#include "collectives/formula/closed_forms.hpp"

#include <cassert>

#include "collectives/formula/node_shape.hpp"
#include "collectives/formula/symbols.hpp"

namespace stepsim::collectives {
namespace {

// A flat collective of one level, at the rates of `whole`.
Collective flat(const Collective& whole, Op op, AlgorithmId algorithm, std::uint32_t ranks,
                double bytes, const LinkCost& link) {
  Collective part;
  part.op = op;
  part.algorithm = algorithm;
  part.ranks = ranks;
  part.bytes = bytes;
  part.links.all = link;
  part.reduction_s_per_byte = symbols(whole).gamma;
  part.options = whole.options;
  return part;
}

// One after the other; `share` turns bytes of a stage into bytes of the whole.
void append(std::optional<ClosedForm>& sum, const std::optional<ClosedForm>& stage, double share) {
  if (!sum || !stage) {
    sum.reset();
    return;
  }
  sum->seconds += stage->seconds;
  sum->upper_bound = sum->upper_bound || stage->upper_bound;
  if (sum->startup_s && stage->startup_s) {
    *sum->startup_s += *stage->startup_s;
    *sum->per_byte_s += *stage->per_byte_s * share;
  } else {
    sum->startup_s = sum->per_byte_s = std::nullopt;
  }
}

} // namespace

std::optional<ClosedForm> hierarchical_allreduce(const Collective& collective) {
  const NodeShape levels = node_shape(collective);
  assert(levels.equal_nodes && "every node has as many ranks");
  const std::uint32_t per_node = levels.gpus;
  const double n = collective.bytes;
  LinkCost shared = levels.inter;
  shared.per_byte_s *= levels.sharing;
  const Options& options = collective.options;
  std::optional<ClosedForm> sum = linear_form(0, 0, 0);
  append(sum,
         closed_form(
             flat(collective, Op::reduce_scatter, AlgorithmId::ring, per_node, n, levels.intra)),
         1);
  append(sum,
         closed_form(flat(collective, Op::allreduce, options.inter_algorithm, levels.nodes,
                          n / per_node, shared)),
         1.0 / per_node);
  append(sum,
         closed_form(flat(collective, Op::allgather, AlgorithmId::ring, per_node, n, levels.intra)),
         1);
  return sum;
}

std::optional<ClosedForm> hierarchical_leader_allreduce(const Collective& collective) {
  const NodeShape levels = node_shape(collective);
  const double n = collective.bytes;
  const Options& options = collective.options;
  std::optional<ClosedForm> sum = linear_form(0, 0, 0);
  append(sum,
         closed_form(
             flat(collective, Op::reduce, options.intra_algorithm, levels.gpus, n, levels.intra)),
         1);
  append(sum,
         closed_form(flat(collective, Op::allreduce, options.inter_algorithm, levels.nodes, n,
                          levels.inter)),
         1);
  append(sum,
         closed_form(flat(collective, Op::broadcast, options.intra_algorithm, levels.gpus, n,
                          levels.intra)),
         1);
  // Leaders of smaller nodes are ready earlier.
  if (sum && !levels.equal_nodes) {
    sum->upper_bound = true;
  }
  return sum;
}

} // namespace stepsim::collectives
