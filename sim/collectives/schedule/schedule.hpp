#pragma once
// A collective as a list of phases. A phase is a rule over groups of ranks and a partition of
// bytes. Messages are not stored: `rule.send(step, rank)` computes each.
//   mst allreduce    BinomialTree collect, BinomialTree spread
//   be broadcast     BinomialSplit spread, RingPass
//   hierarchical     RingPass in every node, an allreduce per local index, RingPass in every node
// There is no barrier between phases: a rank continues as soon as its ports and data allow. Program
// order is phase by phase, and step by step in a phase; phases of different ranks may have the same
// step numbers.
#include <variant>

#include "collectives/schedule/partition.hpp"
#include "collectives/schedule/pipelined_rules.hpp"
#include "collectives/schedule/simple_rules.hpp"

namespace stepsim::collectives {

using Rule =
    std::variant<RingPass, BinomialTree, NearTree, FlatTree, BinomialSplit, FlatSplit, Halving,
                 Doubling, FullExchange, Bruck, Fold, FunctionRule, Chain, ChainRing, TreePair>;

// A rule with streams (operation.hpp).
template <class R>
concept StreamRule = requires(const R& rule) {
  rule.streams();
};

// `groups` groups of `size` ranks. Member m of group g is rank
//   base + g * group_stride + m * rank_stride,
// and local rank l is member (l + shift) mod modulus. If `order` is given, it replaces these
// formulas.
struct Layout {
  Index base = 0;
  Index groups = 1;
  Index group_stride = 0;
  Index rank_stride = 1;
  Index size = 0;
  Index shift = 0;
  Index modulus = 0;
  std::vector<std::uint32_t> order{};   // local rank -> rank, or empty
  std::vector<std::uint32_t> inverse{}; // rank -> local rank, or kNotListed

  static constexpr std::uint32_t kNotListed = ~std::uint32_t{0}; // the rank takes no part

  struct Place {
    Index group = kNobody; // kNobody: the rank takes no part
    Index local = 0;
  };
  [[nodiscard]] Index rank(Index group, Index local) const {
    if (!order.empty()) {
      return order[static_cast<std::size_t>(local)];
    }
    const Index member = local + shift < modulus ? local + shift : local + shift - modulus;
    return base + group * group_stride + member * rank_stride;
  }
  // The inverse of `rank`: returns the group and local rank of a rank. O(1).
  [[nodiscard]] Place place(Index rank) const;
};

// A set of send and receive ports. A phase holds the ports of one lane; phases of different lanes
// run at the same time if their data allows. In lane 0 every rank has two ports. In other lanes a
// rank has its ports to a network card, or the ports of the card itself, which the ranks of a node
// share: local index l uses card l mod cards. Example with 4 GPUs and 2 cards per node:
//     rank   0 1 2 3  4 5 6 7
//     place  0 1 0 1  4 5 4 5     index of its ports in the lane
struct Lane {
  Index gpus_per_node = 1;
  Index cards = 0; // per node; 0: every rank has separate ports
  [[nodiscard]] Index place(Index rank) const {
    if (cards == 0) { // most lanes; two divisions per message would be noticeable
      return rank;
    }
    const Index local = rank % gpus_per_node;
    return rank - local + local % cards;
  }
};

struct Phase {
  Layout layout;
  Rule rule;
  Partition partition;         // splits the range of every group
  double offset = 0;           // first byte of group 0 in the whole buffer
  double group_bytes = 0;      // first byte of group g + 1 less that of group g
  Index first_step = 0;        // counted over the whole collective
  std::uint32_t nic_share = 0; // c of COL 5.9: sends that share a card; 0: counted in every step
  std::uint32_t lane = 0;      // transfers of the phase hold the ports of this lane
  std::uint32_t data = 0;      // sends wait only for what phases with this number have brought
  // Number of flows of the schedule that always use the same ports inside a node, and the same
  // adder of a rank, at the same time. Each has separate ports at 1 / inner_share of the rate (CLU
  // 2).
  std::uint32_t inner_share = 1;
  bool own_ports = false; // `events` divides rates by nic_share and inner_share, as max_plus does

  [[nodiscard]] Index steps() const {
    return std::visit([](const auto& held) { return held.steps(); }, rule);
  }
};

// Returns the first step after all phases.
[[nodiscard]] Index end_step(const std::vector<Phase>& phases);

struct Schedule {
  std::uint32_t ranks = 0;
  std::vector<Phase> phases;
  // Ranks that share ports in a lane send only their own data (Needs::entry), and one rank per
  // step.
  std::vector<Lane> lanes{Lane{}};
  std::uint32_t data_sets = 1;   // Phase::data is below it
  bool serial_additions = false; // whatever the options say (COL 2.3)
  [[nodiscard]] Index steps() const { return end_step(phases); } // rounds on the critical path
  // Number of ports in all lanes, numbered lane by lane; a send and a receive port share a number.
  [[nodiscard]] std::uint32_t ports() const {
    return ranks * static_cast<std::uint32_t>(lanes.size());
  }
  [[nodiscard]] std::uint32_t port(std::uint32_t lane, std::uint32_t rank) const {
    return lane == 0 ? rank : lane * ranks + static_cast<std::uint32_t>(lanes[lane].place(rank));
  }
};

// Returns the schedule; `automatic` is resolved first. Empty for one rank or nothing to send.
// Throws SimulationError if the algorithm does not offer the operation, if it has no list of phases
// (parameter_server, sums in switches), and if it needs equal nodes and gets unequal ones.
[[nodiscard]] Schedule make_schedule(const Collective& collective);

// Whether every rank sends one message in every step, of as many parts as every other rank.
[[nodiscard]] bool all_send(const Rule& rule);

// Returns the rank that ends a reduce-scatter, or begins an all-gather, with the part, in a ring
// and where all_send(). Empty for other rules, and where ranks hold their parts in no order:
// between the owners of parts a .. b of one size, what a rank sends must only rise, or only fall.
[[nodiscard]] std::optional<Index> owner(const Rule& rule, Index part);

// Returns the name of a phase for messages: "ring reduce-scatter".
[[nodiscard]] std::string_view name(const Rule& rule);

} // namespace stepsim::collectives
