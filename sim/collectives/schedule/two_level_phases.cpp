// The two-level algorithms (COL 5.9), built from flat ones.
#include "collectives/schedule/two_level.hpp"

#include "collectives/evaluate/link_costs.hpp"
#include "collectives/formula/blocks.hpp"
#include "collectives/schedule/flat_phases.hpp"

namespace stepsim::collectives {
namespace {

// Block bytes of a flat algorithm on one level; 0 where it has none.
double block_bytes(const Collective& collective, Op op, AlgorithmId algorithm, Index ranks,
                   double bytes, const LinkCost& link) {
  Collective level;
  level.op = op;
  level.algorithm = algorithm;
  level.ranks = static_cast<std::uint32_t>(ranks);
  level.bytes = bytes;
  level.links.all = link;
  level.reduction_s_per_byte = collective.reduction_s_per_byte;
  level.options = collective.options;
  const auto blocks = resolve_blocks(level);
  return blocks ? blocks->block_bytes : 0;
}

LinkCost cost_in_nodes(const Collective& collective, const NodeRanks& nodes) {
  const Links& links = collective.links;
  if (links.fabric) {
    return ring_cost(links, {.count = nodes.largest()});
  }
  return links.two_level ? links.two_level->intra : links.all;
}

// Leaders of unequal nodes stand in no row: all ranks in a row have the longest of their ways.
LinkCost cost_between_nodes(const Collective& collective, const NodeRanks& nodes) {
  const Links& links = collective.links;
  if (!links.fabric) {
    return links.all;
  }
  const bool row = links.two_level == std::nullopt || links.two_level->ranks_per_node.empty();
  return row ? ring_cost(links, {.stride = nodes.largest(), .count = nodes.nodes()})
             : ring_cost(links, {.count = collective.ranks});
}

// The nodes as groups of their ranks: neighbours of one size make one layout.
std::vector<Layout> node_layouts(const NodeRanks& nodes) {
  std::vector<Layout> layouts;
  for (std::uint32_t node = 0; node < nodes.nodes(); ++node) {
    const Index size = nodes.size(node);
    if (!layouts.empty() && layouts.back().size == size) {
      ++layouts.back().groups;
    } else {
      layouts.push_back(
          {.base = nodes.first(node), .group_stride = size, .size = size, .modulus = size});
    }
  }
  return layouts;
}

// A reduce to, or broadcast from, the first rank of every node. Phases of nodes of different sizes
// stand side by side and share their step numbers.
void add_node_phases(Schedule& schedule, const Collective& collective, const NodeRanks& nodes,
                     Op op) {
  const AlgorithmId algorithm = collective.options.intra_algorithm;
  const Index first_step = schedule.steps();
  const LinkCost link = cost_in_nodes(collective, nodes);
  for (const Layout& layout : node_layouts(nodes)) {
    if (layout.size <= 1) {
      continue;
    }
    PhaseList list{schedule.phases, layout, collective.options};
    list.bytes = collective.bytes;
    list.block_bytes = block_bytes(collective, op, algorithm, layout.size, collective.bytes, link);
    list.first_step = first_step;
    if (op == Op::reduce && algorithm == AlgorithmId::lp) {
      list.layout.shift = 1; // its root is the last of the chain
    }
    add_flat_phases(list, op, algorithm);
  }
}

// The first ranks of all nodes.
Layout leaders_of(const Collective& collective, const NodeRanks& nodes) {
  const Index count = nodes.nodes();
  Layout leaders{.rank_stride = nodes.largest(), .size = count, .modulus = count};
  if (collective.links.two_level && !collective.links.two_level->ranks_per_node.empty()) {
    leaders.inverse.assign(collective.ranks, Layout::kNotListed);
    for (std::uint32_t node = 0; node < nodes.nodes(); ++node) {
      leaders.order.push_back(nodes.first(node));
      leaders.inverse[nodes.first(node)] = node;
    }
  }
  return leaders;
}

// hierarchical_leader: only one rank of a node talks to other nodes, so that interfaces are not
// shared.
void add_leader_phases(Schedule& schedule, const Collective& collective, const NodeRanks& nodes) {
  add_node_phases(schedule, collective, nodes, Op::reduce);
  if (nodes.nodes() > 1) {
    const AlgorithmId algorithm = collective.options.inter_algorithm;
    PhaseList list{schedule.phases, leaders_of(collective, nodes), collective.options};
    list.bytes = collective.bytes;
    list.block_bytes = block_bytes(collective, Op::allreduce, algorithm, nodes.nodes(),
                                   collective.bytes, cost_between_nodes(collective, nodes));
    list.first_step = schedule.steps();
    list.nic_share = 1;
    add_flat_phases(list, Op::allreduce, algorithm);
  }
  add_node_phases(schedule, collective, nodes, Op::broadcast);
}

// hierarchical: after the reduce-scatter local rank l of every node holds shard l of the sum over
// its node. The ranks of one local index then all-reduce their shard among nodes, all indices at
// once.
void add_shard_phases(Schedule& schedule, const Collective& collective, const NodeRanks& nodes) {
  const Index per_node = nodes.largest();
  const Index count = nodes.nodes();
  const Layout groups{
      .groups = count, .group_stride = per_node, .size = per_node, .modulus = per_node};
  const auto ring_in_nodes = [&](Op op) {
    if (per_node > 1) {
      PhaseList list{schedule.phases, groups, collective.options};
      list.bytes = collective.bytes;
      add_flat_phases(list, op, AlgorithmId::ring);
    }
  };
  ring_in_nodes(Op::reduce_scatter);
  if (count > 1) {
    const AlgorithmId algorithm = collective.options.inter_algorithm;
    const Partition shards = Partition::equal(collective.bytes, per_node, collective.options);
    const Index first_step = schedule.steps();
    // Neighbouring local indices with shards of one size make one phase: there are at most two.
    for (Index first = 0, end = 0; first < per_node; first = end) {
      const double bytes = shards.bytes(first, 1);
      for (end = first + 1; end < per_node && shards.bytes(end, 1) == bytes;) {
        ++end;
      }
      const Layout peers{.base = first,
                         .groups = end - first,
                         .group_stride = 1,
                         .rank_stride = per_node,
                         .size = count,
                         .modulus = count};
      PhaseList list{schedule.phases, peers, collective.options};
      list.bytes = bytes;
      list.block_bytes = block_bytes(collective, Op::allreduce, algorithm, count,
                                     shards.bytes(0, 1), cost_between_nodes(collective, nodes));
      list.offset = shards.begin(first);
      list.group_bytes = bytes;
      list.first_step = first_step;
      list.nic_share = ranks_per_interface(collective);
      add_flat_phases(list, Op::allreduce, algorithm);
    }
  }
  ring_in_nodes(Op::allgather);
}

} // namespace

void add_two_level_phases(Schedule& schedule, const Collective& collective) {
  if (collective.op != Op::allreduce) {
    throw SimulationError(std::string(name(collective.op)) + " has no algorithm " +
                          std::string(name(collective.algorithm)));
  }
  const NodeRanks nodes(collective);
  if (collective.algorithm == AlgorithmId::hierarchical) {
    add_shard_phases(schedule, collective, nodes);
  } else {
    add_leader_phases(schedule, collective, nodes);
  }
}

} // namespace stepsim::collectives
