// Two levels (COL 5.9): the flat closed forms of each level, one after the other.
#include "collectives/formula/closed_form.hpp"

#include <cassert>
#include <initializer_list>

#include "collectives/formula/uniform.hpp"

namespace stepsim::collectives {
namespace {

// A flat collective of one level, of 1/parts of the message.
struct Stage {
  Op op{};
  AlgorithmId algorithm{};
  std::uint32_t ranks{};
  LinkCost link;
  double parts = 1;
};

// The stages one after the other, at the rates of `whole`; empty if one has no form.
std::optional<ClosedForm> form_of(const Collective& whole, std::initializer_list<Stage> stages) {
  ClosedForm sum = linear_form(0, 0, 0);
  for (const Stage& stage : stages) {
    Collective flat;
    flat.op = stage.op;
    flat.algorithm = stage.algorithm;
    flat.ranks = stage.ranks;
    flat.bytes = whole.bytes / stage.parts;
    flat.links.all = stage.link;
    flat.reduction_s_per_byte = symbols(whole).gamma;
    flat.options = whole.options;
    const std::optional<ClosedForm> form = closed_form(flat);
    if (!form) {
      return std::nullopt;
    }
    sum.seconds += form->seconds;
    sum.upper_bound = sum.upper_bound || form->upper_bound;
    if (sum.startup_s && form->startup_s) {
      *sum.startup_s += *form->startup_s;
      *sum.per_byte_s += *form->per_byte_s * (1 / stage.parts);
    } else {
      sum.startup_s = sum.per_byte_s = std::nullopt;
    }
  }
  return sum;
}

} // namespace

std::optional<ClosedForm> hierarchical_allreduce(const Collective& collective) {
  const NodeShape levels = node_shape(collective);
  assert(levels.equal_nodes && "every node has as many ranks");
  LinkCost shared = levels.inter;
  shared.per_byte_s *= levels.sharing;
  const double parts = levels.gpus;
  return form_of(collective,
                 {{Op::reduce_scatter, AlgorithmId::ring, levels.gpus, levels.intra},
                  {Op::allreduce, collective.options.inter_algorithm, levels.nodes, shared, parts},
                  {Op::allgather, AlgorithmId::ring, levels.gpus, levels.intra}});
}

std::optional<ClosedForm> hierarchical_leader_allreduce(const Collective& collective) {
  const NodeShape levels = node_shape(collective);
  const Options& options = collective.options;
  std::optional<ClosedForm> sum =
      form_of(collective, {{Op::reduce, options.intra_algorithm, levels.gpus, levels.intra},
                           {Op::allreduce, options.inter_algorithm, levels.nodes, levels.inter},
                           {Op::broadcast, options.intra_algorithm, levels.gpus, levels.intra}});
  // Leaders of smaller nodes are ready earlier.
  if (sum && !levels.equal_nodes) {
    sum->upper_bound = true;
  }
  return sum;
}

} // namespace stepsim::collectives
