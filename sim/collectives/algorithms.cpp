// The rows of `kTable` stand in the order in which `auto` tries them: of equally fast algorithms
// the first one wins, so that the order is part of the results and not a matter of taste.
#include "collectives/algorithms.hpp"

#include "collectives/evaluate/measured_steps.hpp"
#include "collectives/schedule/alltoall.hpp"
#include "collectives/schedule/ring_rails.hpp"
#include "collectives/schedule/swing.hpp"
#include "collectives/schedule/two_level.hpp"

namespace stepsim::collectives {
namespace {

using Id = AlgorithmId;
constexpr auto kAlways = Candidate::always;
constexpr auto kWithLevels = Candidate::two_level;
constexpr auto kNoCandidate = Candidate::never;
constexpr ClosedFormFunction kNoFormula = nullptr;

// How many equal parts a message is cut into, by operation and ranks: all ranks have one, or only
// those within the largest power of two, whom the others fold into.
double as_ranks(Op /*op*/, std::uint32_t ranks) { return ranks; }
bool scatters(Op op) {
  return op == Op::reduce_scatter || op == Op::allgather || op == Op::allgatherv;
}
double as_ranks_if_scattered(Op op, std::uint32_t ranks) { return scatters(op) ? ranks : 1; }
double as_core_if_folded(Op op, std::uint32_t ranks) {
  return op == Op::reduce || op == Op::allreduce ? std::bit_floor(ranks) : ranks;
}

// CPU seconds per rank; all other formulas take no time worth counting.
constexpr double kTreeSecondsPerRank = 1e-7;

// clang-format off
constexpr std::array kAlgorithms{
  Algorithm{.id = Id::mst, .name = "mst", .parts = as_ranks_if_scattered, .phases = mst_phases},
  Algorithm{.id = Id::be, .name = "be", .parts = as_core_if_folded, .phases = be_phases},
  Algorithm{.id = Id::bruck, .name = "bruck", .parts = as_ranks, .phases = bruck_phases},
  Algorithm{.id = Id::ring, .name = "ring", .parts = as_ranks, .phases = ring_phases,
    .interfaces = Interfaces::own},
  Algorithm{.id = Id::recursive_doubling, .name = "recursive_doubling",
    .parts = as_ranks_if_scattered,
    .phases = recursive_doubling_phases},
  Algorithm{.id = Id::lp, .name = "lp", .parts = nullptr, .phases = lp_phases,
    .interfaces = Interfaces::shared_off_chain, .block_streams = 1},
  Algorithm{.id = Id::double_binary_tree, .name = "double_binary_tree",
    .parts = nullptr, .phases = double_tree_phases,
    .block_streams = 2, .formula_s_per_rank = kTreeSecondsPerRank},
  Algorithm{.id = kSwing, .name = "swing",
    .parts = as_ranks, .phases = swing_phases, .needs_even_ranks = true},
  Algorithm{.id = Id::hierarchical, .name = "hierarchical", .parts = nullptr, .phases = nullptr,
    .interfaces = Interfaces::fixed_share, .two_level = true,
    .node_phases = add_two_level_phases, .needs_equal_nodes = true},
  Algorithm{.id = Id::hierarchical_leader, .name = "hierarchical_leader",
    .parts = nullptr, .phases = nullptr,
    .interfaces = Interfaces::own, .two_level = true, .node_phases = add_two_level_phases},
  Algorithm{.id = kRingRails, .name = "ring_rails", .parts = nullptr, .phases = nullptr,
    .interfaces = Interfaces::own, .two_level = true, .node_phases = ring_rails_phases,
    .node_parts = ring_rails_parts, .node_blocks = ring_rails_blocks, .needs_equal_nodes = true},
  Algorithm{.id = kTwoLevel, .name = "two_level", .parts = nullptr, .phases = nullptr,
    .interfaces = Interfaces::own, .two_level = true, .node_phases = two_level_phases,
    .node_parts = two_level_parts, .needs_equal_nodes = true},
  Algorithm{.id = kNvls, .name = "nvls", .parts = nullptr, .phases = nullptr,
    .interfaces = Interfaces::own, .two_level = true, .needs_equal_nodes = true,
    .in_switch = true},
  Algorithm{.id = kNvlsTree, .name = "nvls_tree", .parts = nullptr, .phases = nullptr,
    .interfaces = Interfaces::own, .two_level = true, .needs_equal_nodes = true,
    .in_switch = true},
  Algorithm{.id = kCollnet, .name = "collnet", .parts = nullptr, .phases = nullptr,
    .interfaces = Interfaces::own, .two_level = true, .needs_equal_nodes = true,
    .in_switch = true},
  Algorithm{.id = kPairwise, .name = "pairwise", .parts = as_ranks, .phases = nullptr,
    .interfaces = Interfaces::own, .node_phases = add_pairwise_phases,
    .needs_equal_nodes = true},
  Algorithm{.id = kPairwisePxn, .name = "pairwise_pxn", .parts = as_ranks, .phases = nullptr,
    .interfaces = Interfaces::fixed_share, .node_phases = add_pairwise_pxn_phases,
    .needs_equal_nodes = true},
  Algorithm{.id = Id::parameter_server, .name = "parameter_server",
    .parts = nullptr, .phases = nullptr,
    .interfaces = Interfaces::own}, // max_plus_defined
  Algorithm{.id = Id::automatic, .name = "auto", .parts = nullptr, .phases = nullptr},
};

constexpr bool one_row_each() {
  for (std::size_t i = 0; i < kAlgorithms.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (kAlgorithms[i].id == kAlgorithms[j].id || kAlgorithms[i].name == kAlgorithms[j].name) {
        return false;
      }
    }
  }
  return true;
}
static_assert(one_row_each(), "every algorithm has a number and a word of its own");

constexpr std::array kTable{
  AlgorithmRow{Op::broadcast, Id::mst, kAlways, mst_form, mst_paper, kNoFormula,
    "binomial tree, ceil(log2 P) rounds of the whole message"},
  AlgorithmRow{Op::broadcast, Id::be, kAlways, be_broadcast, be_broadcast, kNoFormula,
    "binomial scatter, then ring all-gather"},
  AlgorithmRow{Op::broadcast, Id::lp, kAlways, lp_exact, lp_paper, kNoFormula,
    "linear pipeline: blocks travel down a chain of all ranks"},
  AlgorithmRow{Op::broadcast, kRingRails, kWithLevels, ring_rails_chains, kNoFormula, kNoFormula,
    "one chain of all ranks per network card of a node, blocks of its part of the message"},
  AlgorithmRow{Op::broadcast, kTwoLevel, kWithLevels, two_level_rooted, kNoFormula, kNoFormula,
    "scatter in the root's node, a binomial tree across nodes per part, rings in the nodes"},

  AlgorithmRow{Op::reduce, Id::mst, kAlways, mst_form, mst_paper, kNoFormula,
    "binomial tree towards the root, ceil(log2 P) rounds of the whole message"},
  AlgorithmRow{Op::reduce, Id::be, kAlways, be_sums, bruck_form, kNoFormula,
    "recursive halving, then binomial gather; ranks beyond a power of two are folded"},
  AlgorithmRow{Op::reduce, Id::lp, kAlways, lp_exact, lp_paper, kNoFormula,
    "linear pipeline: partial sums travel along a chain to the root"},
  AlgorithmRow{Op::reduce, kRingRails, kWithLevels, ring_rails_chains, kNoFormula, kNoFormula,
    "one chain to the root per network card of a node, blocks of its part of the message"},
  AlgorithmRow{Op::reduce, kTwoLevel, kWithLevels, two_level_rooted, kNoFormula, kNoFormula,
    "rings in the nodes, a binomial tree across nodes per part, gather in the root's node"},

  AlgorithmRow{Op::allreduce, Id::recursive_doubling, kAlways,
    recursive_doubling_allreduce, recursive_doubling_paper, kNoFormula,
    "log2 P exchanges of the whole vector; fewest rounds, for small messages"},
  AlgorithmRow{Op::allreduce, Id::be, kAlways, be_sums, bruck_form, kNoFormula,
    "recursive halving, then doubling (Rabenseifner); folds ranks beyond a power of two"},
  AlgorithmRow{Op::allreduce, Id::bruck, kAlways, bruck_form, kNoFormula, kNoFormula,
    "as be for any number of ranks, without folding"},
  AlgorithmRow{Op::allreduce, Id::ring, kAlways, ring_form, ring_form, kNoFormula,
    "ring reduce-scatter, then ring all-gather; 2(P-1) rounds of n/P"},
  AlgorithmRow{Op::allreduce, Id::double_binary_tree, kAlways,
    double_tree_allreduce, double_tree_paper, double_tree_ideal,
    "two complementary trees, each pipelines half of the message"},
  AlgorithmRow{Op::allreduce, Id::lp, kAlways, lp_exact, lp_paper, kNoFormula,
    "linear pipeline around a ring: reduce and broadcast of blocks overlap"},
  AlgorithmRow{Op::allreduce, Id::mst, kAlways, mst_form, mst_paper, kNoFormula,
    "binomial reduce, then binomial broadcast"},
  AlgorithmRow{Op::allreduce, kSwing, kNoCandidate, swing_allreduce, kNoFormula, kNoFormula,
    "be with peers at distances 1, 1, 3, 5, 11, .. on alternating sides; even P"},
  AlgorithmRow{Op::allreduce, Id::hierarchical, kWithLevels, hierarchical_allreduce, kNoFormula, kNoFormula,
    "reduce-scatter in the node, all-reduce of shards between nodes, all-gather in the node"},
  AlgorithmRow{Op::allreduce, Id::hierarchical_leader, kWithLevels,
    hierarchical_leader_allreduce, kNoFormula, kNoFormula,
    "reduce to one leader per node, all-reduce between leaders, broadcast in the node"},
  AlgorithmRow{Op::allreduce, kRingRails, kWithLevels, ring_rails_passes, kNoFormula, kNoFormula,
    "one ring per network card of a node, which carries its part of the message"},
  AlgorithmRow{Op::allreduce, kTwoLevel, kWithLevels, two_level_rings, kNoFormula, kNoFormula,
    "rings in the nodes and across, for sums and back; in chunks that overlap if wanted"},
  AlgorithmRow{Op::allreduce, kNvlsTree, kWithLevels, nvls_tree_allreduce, kNoFormula, kNoFormula,
    "sums in the switches of nodes, a double binary tree across nodes"},
  AlgorithmRow{Op::allreduce, kNvls, kNoCandidate, nvls_allreduce, kNoFormula, kNoFormula,
    "sums in the switch of one node, which sends them to all of its GPUs"},
  AlgorithmRow{Op::allreduce, kCollnet, kNoCandidate, collnet_allreduce, kNoFormula, kNoFormula,
    "rings in the nodes, sums in the switches of the network (SHARP)"},
  AlgorithmRow{Op::allreduce, Id::parameter_server, kNoCandidate, parameter_server_allreduce, kNoFormula, kNoFormula,
    "all ranks push to servers, which add and send back"},

  AlgorithmRow{Op::reduce_scatter, Id::be, kAlways, bruck_form, kNoFormula, kNoFormula,
    "recursive halving; bruck where P is not a power of two"},
  AlgorithmRow{Op::reduce_scatter, Id::bruck, kAlways, bruck_form, kNoFormula, kNoFormula,
    "ceil(log2 P) rounds for any number of ranks"},
  AlgorithmRow{Op::reduce_scatter, Id::ring, kAlways, ring_form, kNoFormula, kNoFormula,
    "P-1 rounds of n/P around a ring"},
  AlgorithmRow{Op::reduce_scatter, Id::mst, kAlways, mst_form, kNoFormula, kNoFormula,
    "binomial reduce, then binomial scatter"},
  AlgorithmRow{Op::reduce_scatter, kRingRails, kWithLevels, ring_rails_passes, kNoFormula, kNoFormula,
    "one ring per network card of a node, which carries its part of the message"},
  AlgorithmRow{Op::reduce_scatter, kTwoLevel, kWithLevels, two_level_rings, kNoFormula, kNoFormula,
    "rings in the nodes, then rings across them; in chunks that overlap if wanted"},
  AlgorithmRow{Op::reduce_scatter, kNvls, kNoCandidate, nvls_half, kNoFormula, kNoFormula,
    "sums in the switch of one node"},

  AlgorithmRow{Op::allgather, Id::be, kAlways, bruck_form, kNoFormula, kNoFormula,
    "recursive doubling; bruck where P is not a power of two"},
  AlgorithmRow{Op::allgather, Id::bruck, kAlways, bruck_form, kNoFormula, kNoFormula,
    "ceil(log2 P) rounds for any number of ranks"},
  AlgorithmRow{Op::allgather, Id::ring, kAlways, ring_form, kNoFormula, kNoFormula,
    "P-1 rounds of n/P around a ring"},
  AlgorithmRow{Op::allgather, Id::mst, kAlways, mst_form, kNoFormula, kNoFormula,
    "binomial gather, then binomial broadcast"},
  AlgorithmRow{Op::allgather, Id::recursive_doubling, kNoCandidate, bruck_form, kNoFormula, kNoFormula,
    "another name of be"},
  AlgorithmRow{Op::allgather, kRingRails, kWithLevels, ring_rails_passes, kNoFormula, kNoFormula,
    "one ring per network card of a node, which carries its part of the message"},
  AlgorithmRow{Op::allgather, kTwoLevel, kWithLevels, two_level_rings, kNoFormula, kNoFormula,
    "rings across nodes, then rings in them; in chunks that overlap if wanted"},
  AlgorithmRow{Op::allgather, kNvls, kNoCandidate, nvls_half, kNoFormula, kNoFormula,
    "the switch of one node sends each part to all of its GPUs"},

  AlgorithmRow{Op::allgatherv, Id::ring, kAlways, ring_allgatherv, kNoFormula, kNoFormula,
    "P-1 rounds around a ring, parts of unequal size"},
  AlgorithmRow{Op::allgatherv, Id::bruck, kAlways, bruck_form, kNoFormula, kNoFormula,
    "ceil(log2 P) rounds, parts of unequal size"},
  AlgorithmRow{Op::allgatherv, Id::be, kNoCandidate, bruck_form, kNoFormula, kNoFormula,
    "recursive doubling, parts of unequal size; bruck where P is not a power of two"},
  AlgorithmRow{Op::allgatherv, kRingRails, kWithLevels, ring_rails_passes, kNoFormula, kNoFormula,
    "one ring per network card of a node, which carries its part of every block"},
  AlgorithmRow{Op::allgatherv, kTwoLevel, kWithLevels, two_level_rings, kNoFormula, kNoFormula,
    "rings across nodes, then rings in them, parts of unequal size"},

  AlgorithmRow{Op::alltoall, kPairwise, kAlways, pairwise_alltoall, kNoFormula, kNoFormula,
    "every pair of ranks exchanges n/P directly, inside nodes and between them at once"},
  AlgorithmRow{Op::alltoall, kPairwisePxn, kAlways, pairwise_pxn_alltoall, kNoFormula, kNoFormula,
    "handed over inside the node first, then one message per pair of nodes and local index"},
};
// clang-format on

// What may be a candidate with these nodes: an algorithm that knows levels where there are two,
// with equal nodes if it needs them (unequal ones have only hierarchical_leader, COL 5.9), cards
// that divide the GPUs for their rings, and a switch that adds.
bool fits_nodes(AlgorithmId id, const Collective& collective) {
  const NodeShape shape = node_shape(collective);
  const bool both = shape.nodes > 1 && shape.gpus > 1;
  const Algorithm& row = algorithm(id);
  Collective candidate = collective;
  candidate.algorithm = id;
  return (has_level_algorithms(id) || both) && (shape.equal_nodes || !row.needs_equal_nodes) &&
         (id != kRingRails ||
          (shape.gpus % shape.cards == 0 && collective.links.fabric == nullptr)) &&
         (!row.in_switch || !in_switch_problem(candidate));
}

} // namespace

const Algorithm& algorithm(AlgorithmId id) {
  const auto* const row = std::ranges::find(kAlgorithms, id, &Algorithm::id);
  assert(row != kAlgorithms.end() && "every algorithm has a row");
  return *row;
}

std::optional<AlgorithmId> find_algorithm(std::string_view name) {
  const auto* const row = std::ranges::find(kAlgorithms, name, &Algorithm::name);
  return row != kAlgorithms.end() ? std::optional(row->id) : std::nullopt;
}

bool takes_ranks(AlgorithmId id, std::uint32_t ranks) {
  return ranks == 1 || ranks % 2 == 0 || !algorithm(id).needs_even_ranks;
}

std::vector<std::string_view> algorithm_names() {
  return base::collected<std::string_view>(kAlgorithms, &Algorithm::name);
}

std::vector<std::string_view> block_algorithms() {
  return base::collected_if<std::string_view>(
      kAlgorithms, [](const Algorithm& row) { return row.block_streams > 0; }, &Algorithm::name);
}

bool needs_equal_nodes(const Collective& collective) {
  if (collective.algorithm != Id::automatic) {
    return algorithm(collective.algorithm).needs_equal_nodes;
  }
  return std::ranges::all_of(valid_algorithms(collective.op),
                             [](Id id) { return algorithm(id).needs_equal_nodes; });
}

bool has_transfers(AlgorithmId id) {
  return id != AlgorithmId::parameter_server && !algorithm(id).in_switch;
}

bool is_two_level(AlgorithmId id) { return algorithm(id).two_level; }

bool has_level_algorithms(AlgorithmId id) {
  return id == Id::hierarchical || id == Id::hierarchical_leader;
}

std::span<const AlgorithmRow> algorithm_table() { return kTable; }

std::vector<AlgorithmId> valid_algorithms(Op op) {
  return base::collected_if<AlgorithmId>(
      kTable, [&](const AlgorithmRow& row) { return row.op == op; }, &AlgorithmRow::algorithm);
}

const AlgorithmRow* find_algorithm(Op op, AlgorithmId algorithm) {
  return base::found_if(
      kTable, [&](const AlgorithmRow& row) { return row.op == op && row.algorithm == algorithm; });
}

// Where messages have times of both directions, algorithms that lose them would look faster than
// they are.
std::vector<AlgorithmId> default_candidates(const Collective& collective) {
  const auto takes_times = [&](AlgorithmId id) {
    Collective candidate = collective;
    candidate.algorithm = id;
    return takes_measured_steps(candidate);
  };
  const bool measured = collective.links.measured && takes_times(AlgorithmId::ring);
  std::vector<AlgorithmId> candidates;
  for (const AlgorithmRow& row : kTable) {
    const bool taken =
        row.candidate == kAlways || (row.candidate == kWithLevels && collective.links.two_level &&
                                     fits_nodes(row.algorithm, collective));
    if (row.op == collective.op && taken && takes_ranks(row.algorithm, collective.ranks) &&
        (!measured || takes_times(row.algorithm))) {
      candidates.push_back(row.algorithm);
    }
  }
  return candidates;
}

} // namespace stepsim::collectives
