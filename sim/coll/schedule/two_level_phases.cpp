// The two-level algorithms (COL 5.9), built from flat ones: ranks of node k are k G .. k G + G - 1.
#include "coll/schedule/two_level_phases.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/error.hpp"
#include "coll/evaluate/fabric_links.hpp"
#include "coll/formula/blocks.hpp"
#include "coll/formula/uniform.hpp"
#include "coll/schedule/flat_phases.hpp"

namespace stepsim::coll {
namespace {

struct LevelRanks {
  Index nodes{};
  Index per_node{};  // G
  Index last_node{}; // ranks of the last node, at most G
};

LevelRanks level_ranks_of(const Collective& collective) {
  const auto ranks = static_cast<Index>(collective.ranks);
  Index per_node = 1;
  if (collective.links.two_level) {
    per_node = std::min<Index>(collective.links.two_level->gpus_per_node, ranks);
  }
  const Index nodes = (ranks + per_node - 1) / per_node;
  return {nodes, per_node, ranks - (nodes - 1) * per_node};
}

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

std::uint32_t u32(Index value) { return static_cast<std::uint32_t>(value); }

LinkCost cost_in_nodes(const Collective& collective, const LevelRanks& levels) {
  const Links& links = collective.links;
  if (links.fabric) {
    return ring_cost(links, {.count = u32(levels.per_node)});
  }
  return links.two_level ? links.two_level->intra : links.all;
}

LinkCost cost_between_nodes(const Collective& collective, const LevelRanks& levels) {
  return collective.links.fabric ? ring_cost(collective.links, {.stride = u32(levels.per_node),
                                                                .count = u32(levels.nodes)})
                                 : collective.links.all;
}

// A reduce to, or broadcast from, the first rank of every node. The last node may be smaller: its
// phases stand beside those of the others and share their step numbers.
void add_node_phases(Schedule& schedule, const Collective& collective, const LevelRanks& levels,
                     Op op) {
  const AlgorithmId algorithm = collective.options.intra_algorithm;
  const bool even = levels.last_node == levels.per_node;
  const std::array<Layout, 2> layouts{Layout{.groups = even ? levels.nodes : levels.nodes - 1,
                                             .group_stride = levels.per_node,
                                             .size = levels.per_node,
                                             .modulus = levels.per_node},
                                      Layout{.base = (levels.nodes - 1) * levels.per_node,
                                             .size = levels.last_node,
                                             .modulus = levels.last_node}};
  const Index first_step = schedule.steps();
  const LinkCost link = cost_in_nodes(collective, levels);
  for (const Layout& layout : layouts) {
    if (layout.size <= 1 || layout.groups == 0 || (even && &layout == &layouts.back())) {
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

// hierarchical_leader: only one rank of a node talks to other nodes, so that interfaces are not
// shared.
void add_leader_phases(Schedule& schedule, const Collective& collective, const LevelRanks& levels) {
  add_node_phases(schedule, collective, levels, Op::reduce);
  if (levels.nodes > 1) {
    const AlgorithmId algorithm = collective.options.inter_algorithm;
    Layout leaders{.rank_stride = levels.per_node, .size = levels.nodes, .modulus = levels.nodes};
    PhaseList list{schedule.phases, leaders, collective.options};
    list.bytes = collective.bytes;
    list.block_bytes = block_bytes(collective, Op::allreduce, algorithm, levels.nodes,
                                   collective.bytes, cost_between_nodes(collective, levels));
    list.first_step = schedule.steps();
    list.nic_share = 1;
    add_flat_phases(list, Op::allreduce, algorithm);
  }
  add_node_phases(schedule, collective, levels, Op::broadcast);
}

// hierarchical: after the reduce-scatter local rank l of every node holds shard l of the sum over
// its node. The ranks of one local index then all-reduce their shard among nodes, all indices at
// once.
void add_shard_phases(Schedule& schedule, const Collective& collective, const LevelRanks& levels) {
  if (levels.last_node != levels.per_node) {
    throw SimulationError("hierarchical needs equal ranks per node, got " +
                          std::to_string(collective.ranks) + " ranks in nodes of " +
                          std::to_string(levels.per_node) + "; try hierarchical_leader");
  }
  const Layout nodes{.groups = levels.nodes,
                     .group_stride = levels.per_node,
                     .size = levels.per_node,
                     .modulus = levels.per_node};
  const auto ring_in_nodes = [&](Op op) {
    if (levels.per_node > 1) {
      PhaseList list{schedule.phases, nodes, collective.options};
      list.bytes = collective.bytes;
      add_flat_phases(list, op, AlgorithmId::ring);
    }
  };
  ring_in_nodes(Op::reduce_scatter);
  if (levels.nodes > 1) {
    const AlgorithmId algorithm = collective.options.inter_algorithm;
    const Partition shards =
        Partition::equal(collective.bytes, levels.per_node, collective.options);
    const Index first_step = schedule.steps();
    // Neighbouring local indices with shards of one size make one phase: there are at most two.
    for (Index first = 0, end = 0; first < levels.per_node; first = end) {
      const double bytes = shards.bytes(first, 1);
      for (end = first + 1; end < levels.per_node && shards.bytes(end, 1) == bytes;) {
        ++end;
      }
      const Layout peers{.base = first,
                         .groups = end - first,
                         .group_stride = 1,
                         .rank_stride = levels.per_node,
                         .size = levels.nodes,
                         .modulus = levels.nodes};
      PhaseList list{schedule.phases, peers, collective.options};
      list.bytes = bytes;
      list.block_bytes = block_bytes(collective, Op::allreduce, algorithm, levels.nodes,
                                     shards.bytes(0, 1), cost_between_nodes(collective, levels));
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
  const LevelRanks levels = level_ranks_of(collective);
  if (collective.algorithm == AlgorithmId::hierarchical) {
    add_shard_phases(schedule, collective, levels);
  } else {
    add_leader_phases(schedule, collective, levels);
  }
}

} // namespace stepsim::coll
