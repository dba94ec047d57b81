// Which phases an algorithm has is said in its own file (flat_phases.cpp, alltoall.cpp); here a
// collective gets its layout of ranks, its split into parts and its size of blocks.
#include "collectives/schedule/schedule.hpp"
#include "base/collected.hpp"
#include "collectives/algorithms.hpp"

#include "collectives/formula/blocks.hpp"
#include "collectives/method.hpp"
#include "collectives/node_ranks.hpp"
#include "collectives/schedule/flat_phases.hpp"

namespace stepsim::collectives {
namespace {

// Rules count ranks from the root or the head of the chain. The layout turns such local ranks into
// the ranks of the collective: by rotating them, or by the order of a given chain.
Layout all_ranks(const Collective& collective) {
  const auto ranks = static_cast<Index>(collective.ranks);
  Layout layout{.size = ranks, .modulus = ranks};
  const bool pipeline = collective.algorithm == AlgorithmId::lp;
  if (pipeline && !collective.chain.empty()) {
    layout.order = collective.chain;
    layout.inverse.resize(collective.ranks);
    for (std::uint32_t local = 0; local < collective.ranks; ++local) {
      layout.inverse[layout.order[local]] = local;
    }
    return layout;
  }
  switch (collective.op) {
  case Op::reduce:
    layout.shift = (collective.root + (pipeline ? 1 : 0)) % ranks; // lp: the root is the last
    break;
  case Op::broadcast:
    layout.shift = collective.root;
    break;
  case Op::allreduce:
    layout.shift = pipeline ? 0 : collective.root;
    break;
  case Op::reduce_scatter:
  case Op::allgather:
  case Op::allgatherv:
  case Op::alltoall:
    break;
  }
  return layout;
}

// Messages of expected size: whole bytes, unless chunking is real.
std::vector<double> simulated_bytes(std::vector<double> bytes, const Options& options) {
  if (options.chunking == Chunking::integer) {
    std::ranges::transform(bytes, bytes.begin(), [](double each) { return std::round(each); });
  }
  return bytes;
}

void require_equal_nodes(const Collective& collective) {
  const NodeRanks nodes(collective);
  if (nodes.equal()) {
    return;
  }
  const bool listed = !collective.links.two_level->ranks_per_node.empty();
  throw SimulationError(
      std::string(name(collective.algorithm)) + " needs equal ranks per node, got " +
      std::to_string(collective.ranks) + " ranks in nodes of " +
      (listed ? std::to_string(nodes.smallest()) + " to " : "") + std::to_string(nodes.largest()) +
      (collective.op == Op::allreduce ? "; try hierarchical_leader" : ""));
}

} // namespace

Layout::Place Layout::place(Index rank) const {
  if (!order.empty()) {
    const Index local = inverse[static_cast<std::size_t>(rank)];
    return local < size ? Place{0, local} : Place{};
  }
  const Index distance = rank - base;
  if (distance < 0) {
    return {};
  }
  // Groups stand side by side (stride 1 between ranks) or interleaved (stride 1 between groups).
  Place result{};
  Index member = 0;
  if (rank_stride == 1) {
    result.group = groups == 1 ? 0 : distance / group_stride;
    member = distance - result.group * group_stride;
  } else {
    member = distance / rank_stride;
    result.group = distance - member * rank_stride;
  }
  if (result.group >= groups || member >= modulus) {
    return {};
  }
  result.local = member >= shift ? member - shift : member - shift + modulus;
  return result.local < size ? result : Place{};
}

Index end_step(const std::vector<Phase>& phases) {
  return base::greatest<Index>(phases, 0,
                               [](const Phase& phase) { return phase.first_step + phase.steps(); });
}

Schedule make_schedule(const Collective& collective) {
  Collective resolved = collective;
  if (collective.algorithm == AlgorithmId::automatic) {
    resolved.algorithm = choose_algorithm(collective).chosen;
  }
  Schedule schedule{collective.ranks, {}};
  const Algorithm& row = algorithm(resolved.algorithm);
  if (!has_transfers(resolved.algorithm)) {
    throw SimulationError(std::string(row.name) + " has no list of transfers in program order");
  }
  if (is_empty(resolved)) {
    return schedule;
  }
  if (row.two_level && row.needs_equal_nodes) { // alltoall.cpp asks for itself, after its op
    require_equal_nodes(resolved);
  }
  if (row.node_phases != nullptr) {
    row.node_phases(schedule, resolved);
    return schedule;
  }
  PhaseList phases{schedule.phases, all_ranks(resolved), resolved.options};
  // Nobody knows the sizes of the others yet, so that they are gathered first, by the same
  // algorithm.
  if (resolved.op == Op::allgatherv && resolved.options.exchange_sizes) {
    Options bytes = resolved.options;
    bytes.element_bytes = 1;
    phases.split = Partition::equal(kSizeEntryBytes * resolved.ranks, resolved.ranks, bytes);
    add_flat_phases(phases, Op::allgather, resolved.algorithm);
  }
  if (resolved.op == Op::allgatherv && !resolved.sizes.empty()) {
    phases.split = Partition::sizes(resolved.sizes);
  } else {
    phases.split = std::nullopt;
  }
  phases.bytes = total_bytes(resolved);
  if (!resolved.held_bytes.empty()) {
    phases.held = Partition::sizes(simulated_bytes(resolved.held_bytes, resolved.options));
  }
  if (const auto blocks = resolve_blocks(resolved)) {
    phases.block_bytes = blocks->block_bytes;
  }
  add_flat_phases(phases, resolved.op, resolved.algorithm);
  return schedule;
}

bool all_send(const Rule& rule) {
  const auto alike = []<class R>(const R& held) {
    if constexpr (requires { held.alike; }) {
      return held.alike;
    }
    return false;
  };
  return std::visit(alike, rule);
}

std::optional<Index> owner(const Rule& rule, Index part) {
  if (const auto* function = std::get_if<FunctionRule>(&rule)) {
    return function->owner_of ? std::optional(function->owner_of(*function, part)) : std::nullopt;
  }
  const bool in_order = all_send(rule) || std::holds_alternative<RingPass>(rule);
  return in_order ? std::optional(part) : std::nullopt;
}

std::string_view name(const Rule& rule) {
  struct Names {
    std::string_view operator()(const RingPass& r) const {
      return r.reduce ? "ring reduce-scatter" : "ring all-gather";
    }
    std::string_view operator()(const BinomialTree& r) const {
      return r.direction == Direction::spread ? "tree broadcast" : "tree reduce";
    }
    std::string_view operator()(const NearTree&) const { return "tree reduce, neighbours first"; }
    std::string_view operator()(const FlatTree& r) const {
      return r.direction == Direction::spread ? "flat broadcast" : "flat reduce";
    }
    std::string_view operator()(const BinomialSplit& r) const {
      return r.direction == Direction::spread ? "binomial scatter" : "binomial gather";
    }
    std::string_view operator()(const FlatSplit& r) const {
      return r.direction == Direction::spread ? "flat scatter" : "flat gather";
    }
    std::string_view operator()(const Halving&) const { return "recursive halving"; }
    std::string_view operator()(const Doubling&) const { return "recursive doubling all-gather"; }
    std::string_view operator()(const FullExchange&) const { return "recursive doubling"; }
    std::string_view operator()(const Bruck& r) const {
      return r.reduce ? "bruck reduce-scatter" : "bruck all-gather";
    }
    std::string_view operator()(const Fold& r) const {
      return r.direction == Direction::collect ? "fold" : "unfold";
    }
    std::string_view operator()(const FunctionRule& r) const { return r.name; }
    std::string_view operator()(const Chain& r) const {
      return r.reduce ? "pipeline reduce" : "pipeline broadcast";
    }
    std::string_view operator()(const ChainRing&) const { return "pipeline allreduce"; }
    std::string_view operator()(const TreePair&) const { return "double binary tree"; }
  };
  return std::visit(Names{}, rule);
}

} // namespace stepsim::collectives
