// A message between nodes is named by how far its destination is: s nodes on and j local indices
// on. All ranks send to the same distance, so that every node sends to one node and receives from
// one. The c ranks of a card take turns in the order of their local index: one round each.
#include "collectives/schedule/alltoall.hpp"

#include "base/error.hpp"
#include "collectives/formula/uniform.hpp"

namespace stepsim::collectives {
namespace {

struct Nodes {
  Index count{}; // N
  Index size{};  // G
  Index cards{}; // R <= G
};

Nodes nodes_of(const Collective& collective) {
  if (collective.op != Op::alltoall) {
    throw SimulationError(std::string(name(collective.op)) + " has no algorithm " +
                          std::string(name(collective.algorithm)));
  }
  const TwoLevel two = collective.links.two_level.value_or(TwoLevel{});
  const Index size = std::min(two.gpus_per_node, collective.ranks);
  if (collective.ranks % size != 0) {
    throw SimulationError(std::string(name(collective.algorithm)) +
                          " needs equal ranks per node, got " + std::to_string(collective.ranks) +
                          " ranks in nodes of " + std::to_string(size));
  }
  const bool own_cards = collective.links.fabric != nullptr;
  return {collective.ranks / size, size,
          own_cards ? size : std::min<Index>(two.nics_per_node, size)};
}

// Ranks of a card send in rounds of their own. Where ranks do not divide over cards, those of one
// card reach different cards, and every local index gets a round.
Index rounds(const FunctionRule& rule) {
  return rule.node % rule.cards == 0 ? rule.node / rule.cards : rule.node;
}

Index round_of(const FunctionRule& rule, Index local) {
  return rule.node % rule.cards == 0 ? local / rule.cards : local;
}

// The rank that is `nodes` nodes and `local` local indices further on; both may be negative.
Index shifted(const FunctionRule& rule, Index rank, Index nodes, Index local) {
  const Index count = rule.size / rule.node;
  const Index node = (rank / rule.node + nodes + count) % count;
  return node * rule.node + (rank % rule.node + local + rule.node) % rule.node;
}

// How far a message of a step goes, and whose turn it is.
struct Turn {
  Index nodes{}, local{}, round{};
};

Turn turn_of(const FunctionRule& rule, Index step) {
  const Index shift = step / rounds(rule);
  return {shift / rule.node + 1, shift % rule.node, step % rounds(rule)};
}

FunctionRule direct_between_nodes(const Nodes& nodes) {
  return {.size = nodes.count * nodes.size,
          .name = "pairwise all-to-all between nodes",
          .node = nodes.size,
          .cards = nodes.cards,
          .steps_of =
              [](const FunctionRule& rule) {
                return (rule.size / rule.node - 1) * rule.node * rounds(rule);
              },
          .send_of = [](const FunctionRule& rule, Index step, Index rank) -> Send {
            const Turn turn = turn_of(rule, step);
            if (round_of(rule, rank % rule.node) != turn.round) {
              return {};
            }
            const Index peer = shifted(rule, rank, turn.nodes, turn.local);
            return {.peer = peer, .first = peer, .count = 1, .needs = Needs::entry};
          },
          .peer_of =
              [](const FunctionRule& rule, Index step, Index rank) {
                const Turn turn = turn_of(rule, step);
                const Index peer = shifted(rule, rank, -turn.nodes, -turn.local);
                return round_of(rule, peer % rule.node) == turn.round ? peer : kNobody;
              },
          .sent_by = [](const FunctionRule& rule, Index rank) -> SentParts {
            const Index node = rank - rank % rule.node;
            return {.count = rule.size,
                    .own_first = node,
                    .own_count = rule.node,
                    .messages = rule.size - rule.node};
          }};
}

// Also the first half of pxn, whose messages are larger.
FunctionRule inside_nodes(const Nodes& nodes) {
  return {.size = nodes.count * nodes.size,
          .name = "pairwise all-to-all inside nodes",
          .node = nodes.size,
          .steps_of = [](const FunctionRule& rule) { return rule.node - 1; },
          .send_of = [](const FunctionRule& rule, Index step, Index rank) -> Send {
            const Index peer = shifted(rule, rank, 0, step + 1);
            return {.peer = peer, .first = peer, .count = 1, .needs = Needs::entry};
          },
          .peer_of = [](const FunctionRule& rule, Index step,
                        Index rank) { return shifted(rule, rank, 0, -step - 1); },
          .sent_by = [](const FunctionRule& rule, Index rank) -> SentParts {
            return {.first = rank - rank % rule.node,
                    .count = rule.node,
                    .own_first = rank,
                    .own_count = 1,
                    .messages = rule.node - 1};
          }};
}

// Parts of the second half of pxn are numbered by local index, then node.
Index part_of(const FunctionRule& rule, Index rank) {
  return rank % rule.node * (rule.size / rule.node) + rank / rule.node;
}

FunctionRule gathered_between_nodes(const Nodes& nodes) {
  return {.size = nodes.count * nodes.size,
          .name = "all-to-all between ranks of one local index",
          .node = nodes.size,
          .steps_of = [](const FunctionRule& rule) { return rule.size / rule.node - 1; },
          .send_of = [](const FunctionRule& rule, Index step, Index rank) -> Send {
            const Index peer = shifted(rule, rank, step + 1, 0);
            return {.peer = peer, .first = part_of(rule, peer), .count = 1, .needs = Needs::own};
          },
          .peer_of = [](const FunctionRule& rule, Index step,
                        Index rank) { return shifted(rule, rank, -step - 1, 0); },
          .sent_by = [](const FunctionRule& rule, Index rank) -> SentParts {
            const Index count = rule.size / rule.node;
            return {.first = rank % rule.node * count,
                    .count = count,
                    .own_first = part_of(rule, rank),
                    .own_count = 1,
                    .messages = count - 1};
          }};
}

Phase phase_of(const FunctionRule& rule, Partition partition) {
  return {.layout = {.size = rule.size, .modulus = rule.size},
          .rule = rule,
          .partition = std::move(partition)};
}

// One lane where there is one level, else lane 0 inside nodes and lane 1 between them.
std::uint32_t lane_between(Schedule& schedule, const Nodes& nodes, const Lane& lane) {
  if (nodes.size == 1) {
    return 0;
  }
  schedule.lanes.push_back(lane);
  return 1;
}

// a + b n as the maximum of two such forms; linear only if one of them is never the smaller.
ClosedForm longer(const ClosedForm& a, const ClosedForm& b) {
  const bool first = *a.startup_s >= *b.startup_s && *a.per_byte_s >= *b.per_byte_s;
  const bool second = *b.startup_s >= *a.startup_s && *b.per_byte_s >= *a.per_byte_s;
  if (first || second) {
    return first ? a : b;
  }
  return {std::max(a.seconds, b.seconds), false, std::nullopt, std::nullopt};
}

} // namespace

std::optional<ClosedForm> pairwise_alltoall(const Collective& collective) {
  const Symbols s = symbols(collective);
  const Nodes nodes = nodes_of(collective);
  const auto N = static_cast<double>(nodes.count);
  const auto G = static_cast<double>(nodes.size);
  if (nodes.count > 1 && nodes.size % nodes.cards != 0) {
    return std::nullopt;
  }
  const double across = ranks_per_interface(collective) * (s.P - G);
  const LinkCost inner = collective.links.two_level.value_or(TwoLevel{}).intra;
  const double inside = G - 1;
  const ClosedForm between =
      linear_form(across * (s.alpha - s.delay) + s.delay, across * s.beta / s.P, s.n);
  const ClosedForm within = nodes.size > 1 ? linear_form(inside * inner.latency_s + inner.delay_s,
                                                         inside * inner.per_byte_s / s.P, s.n)
                                           : linear_form(0, 0, s.n);
  return N > 1 ? longer(between, within) : within;
}

std::optional<ClosedForm> pairwise_pxn_alltoall(const Collective& collective) {
  const Symbols s = symbols(collective);
  const Nodes nodes = nodes_of(collective);
  const auto N = static_cast<double>(nodes.count);
  const auto G = static_cast<double>(nodes.size);
  const LinkCost inner = collective.links.two_level.value_or(TwoLevel{}).intra;
  const double share = ranks_per_interface(collective);
  const double within = nodes.size > 1 ? (G - 1) * inner.latency_s + inner.delay_s : 0;
  const double between = nodes.count > 1 ? (N - 1) * (s.alpha - s.delay) + s.delay : 0;
  return linear_form(within + between,
                     (G - 1) * inner.per_byte_s / G + (N - 1) * share * s.beta / N, s.n);
}

void add_pairwise_phases(Schedule& schedule, const Collective& collective) {
  const Nodes nodes = nodes_of(collective);
  const Partition parts = Partition::equal(collective.bytes, collective.ranks, collective.options);
  if (nodes.count > 1) {
    const bool own = nodes.cards == nodes.size;
    Phase phase = phase_of(direct_between_nodes(nodes), parts);
    phase.lane = lane_between(schedule, nodes, own ? Lane{} : Lane{nodes.size, nodes.cards});
    phase.nic_share = 1; // a message has the card for itself
    schedule.phases.push_back(std::move(phase));
  }
  if (nodes.size > 1) {
    schedule.phases.push_back(phase_of(inside_nodes(nodes), parts));
  }
}

// In the first half a rank gets the parts of all ranks of its local index, in the second its own
// part from every rank of the sender's node.
void add_pairwise_pxn_phases(Schedule& schedule, const Collective& collective) {
  const Nodes nodes = nodes_of(collective);
  const Partition parts = Partition::equal(collective.bytes, collective.ranks, collective.options);
  std::vector<double> of_index(static_cast<std::size_t>(nodes.size), 0);
  std::vector<double> gathered; // by local index, then node
  for (Index local = 0; local < nodes.size; ++local) {
    for (Index node = 0; node < nodes.count; ++node) {
      const double part = parts.bytes(node * nodes.size + local, 1);
      of_index[static_cast<std::size_t>(local)] += part;
      gathered.push_back(static_cast<double>(nodes.size) * part);
    }
  }
  if (nodes.size > 1) {
    std::vector<double> handed; // by rank
    for (Index node = 0; node < nodes.count; ++node) {
      handed.insert(handed.end(), of_index.begin(), of_index.end());
    }
    schedule.phases.push_back(phase_of(inside_nodes(nodes), Partition::sizes(handed)));
  }
  if (nodes.count > 1) {
    Phase phase = phase_of(gathered_between_nodes(nodes), Partition::sizes(gathered));
    phase.lane = lane_between(schedule, nodes, Lane{});
    phase.nic_share = ranks_per_interface(collective);
    phase.first_step = schedule.steps();
    schedule.phases.push_back(std::move(phase));
  }
}

} // namespace stepsim::collectives
