// The rows of `kTable` stand in the order in which `auto` tries them: of equally fast algorithms
// the first one wins, so that the order is part of the results and not a matter of taste.
#include "coll/algorithms.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>

#include "coll/formula/closed_form.hpp"
#include "coll/formula/closed_form_be.hpp"
#include "coll/formula/closed_form_bruck.hpp"
#include "coll/formula/closed_form_double_tree.hpp"
#include "coll/formula/closed_form_lp.hpp"
#include "coll/formula/closed_form_mst.hpp"
#include "coll/formula/closed_form_parameter_server.hpp"
#include "coll/formula/closed_form_recursive_doubling.hpp"
#include "coll/formula/closed_form_ring.hpp"
#include "coll/formula/closed_form_two_level.hpp"
#include "coll/schedule/alltoall.hpp"
#include "coll/schedule/flat_phases.hpp"
#include "coll/schedule/swing.hpp"
#include "coll/schedule/two_level_phases.hpp"

namespace stepsim::coll {
namespace {

using Id = AlgorithmId;
constexpr auto kAlways = Candidate::always;
constexpr auto kTwoLevel = Candidate::two_level;
constexpr auto kNever = Candidate::never;
constexpr ClosedFormFunction kNone = nullptr;

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
constexpr double kTreeSecondsPerRank = 5e-7;

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
    .interfaces = Interfaces::fixed_share, .node_phases = add_two_level_phases,
    .needs_equal_nodes = true},
  Algorithm{.id = Id::hierarchical_leader, .name = "hierarchical_leader",
    .parts = nullptr, .phases = nullptr,
    .interfaces = Interfaces::own, .node_phases = add_two_level_phases},
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
  AlgorithmRow{Op::broadcast, Id::mst, kAlways, mst_broadcast, mst_broadcast, kNone,
    "binomial tree, ceil(log2 P) rounds of the whole message"},
  AlgorithmRow{Op::broadcast, Id::be, kAlways, be_broadcast, be_broadcast, kNone,
    "binomial scatter, then ring all-gather"},
  AlgorithmRow{Op::broadcast, Id::lp, kAlways, lp_broadcast, lp_broadcast_paper, kNone,
    "linear pipeline: blocks travel down a chain of all ranks"},

  AlgorithmRow{Op::reduce, Id::mst, kAlways, mst_reduce, mst_reduce_paper, kNone,
    "binomial tree towards the root, ceil(log2 P) rounds of the whole message"},
  AlgorithmRow{Op::reduce, Id::be, kAlways, be_reduce, be_paper, kNone,
    "recursive halving, then binomial gather; ranks beyond a power of two are folded"},
  AlgorithmRow{Op::reduce, Id::lp, kAlways, lp_reduce, lp_reduce_paper, kNone,
    "linear pipeline: partial sums travel along a chain to the root"},

  AlgorithmRow{Op::allreduce, Id::recursive_doubling, kAlways,
    recursive_doubling_allreduce, recursive_doubling_paper, kNone,
    "log2 P exchanges of the whole vector; fewest rounds, for small messages"},
  AlgorithmRow{Op::allreduce, Id::be, kAlways, be_allreduce, be_paper, kNone,
    "recursive halving, then doubling (Rabenseifner); folds ranks beyond a power of two"},
  AlgorithmRow{Op::allreduce, Id::bruck, kAlways, bruck_allreduce, kNone, kNone,
    "as be for any number of ranks, without folding"},
  AlgorithmRow{Op::allreduce, Id::ring, kAlways, ring_allreduce, ring_allreduce, kNone,
    "ring reduce-scatter, then ring all-gather; 2(P-1) rounds of n/P"},
  AlgorithmRow{Op::allreduce, Id::double_binary_tree, kAlways,
    double_tree_allreduce, double_tree_paper, double_tree_ideal,
    "two complementary trees, each pipelines half of the message"},
  AlgorithmRow{Op::allreduce, Id::lp, kAlways, lp_allreduce, lp_allreduce_paper, kNone,
    "linear pipeline around a ring: reduce and broadcast of blocks overlap"},
  AlgorithmRow{Op::allreduce, Id::mst, kAlways, mst_allreduce, mst_allreduce_paper, kNone,
    "binomial reduce, then binomial broadcast"},
  AlgorithmRow{Op::allreduce, kSwing, kNever, swing_allreduce, kNone, kNone,
    "be with peers at distances 1, 1, 3, 5, 11, .. on alternating sides; even P"},
  AlgorithmRow{Op::allreduce, Id::hierarchical, kTwoLevel, hierarchical_allreduce, kNone, kNone,
    "reduce-scatter in the node, all-reduce of shards between nodes, all-gather in the node"},
  AlgorithmRow{Op::allreduce, Id::hierarchical_leader, kTwoLevel,
    hierarchical_leader_allreduce, kNone, kNone,
    "reduce to one leader per node, all-reduce between leaders, broadcast in the node"},
  AlgorithmRow{Op::allreduce, Id::parameter_server, kNever, parameter_server_allreduce, kNone, kNone,
    "all ranks push to servers, which add and send back"},

  AlgorithmRow{Op::reduce_scatter, Id::be, kAlways, be_reduce_scatter, kNone, kNone,
    "recursive halving; bruck where P is not a power of two"},
  AlgorithmRow{Op::reduce_scatter, Id::bruck, kAlways, bruck_reduce_scatter, kNone, kNone,
    "ceil(log2 P) rounds for any number of ranks"},
  AlgorithmRow{Op::reduce_scatter, Id::ring, kAlways, ring_reduce_scatter, kNone, kNone,
    "P-1 rounds of n/P around a ring"},
  AlgorithmRow{Op::reduce_scatter, Id::mst, kAlways, mst_reduce_scatter, kNone, kNone,
    "binomial reduce, then binomial scatter"},

  AlgorithmRow{Op::allgather, Id::be, kAlways, be_allgather, kNone, kNone,
    "recursive doubling; bruck where P is not a power of two"},
  AlgorithmRow{Op::allgather, Id::bruck, kAlways, bruck_allgather, kNone, kNone,
    "ceil(log2 P) rounds for any number of ranks"},
  AlgorithmRow{Op::allgather, Id::ring, kAlways, ring_allgather, kNone, kNone,
    "P-1 rounds of n/P around a ring"},
  AlgorithmRow{Op::allgather, Id::mst, kAlways, mst_allgather, kNone, kNone,
    "binomial gather, then binomial broadcast"},
  AlgorithmRow{Op::allgather, Id::recursive_doubling, kNever, be_allgather, kNone, kNone,
    "another name of be"},

  AlgorithmRow{Op::allgatherv, Id::ring, kAlways, ring_allgatherv, kNone, kNone,
    "P-1 rounds around a ring, parts of unequal size"},
  AlgorithmRow{Op::allgatherv, Id::bruck, kAlways, bruck_allgatherv, kNone, kNone,
    "ceil(log2 P) rounds, parts of unequal size"},
  AlgorithmRow{Op::allgatherv, Id::be, kNever, bruck_allgatherv, kNone, kNone,
    "recursive doubling, parts of unequal size; bruck where P is not a power of two"},

  AlgorithmRow{Op::alltoall, kPairwise, kAlways, pairwise_alltoall, kNone, kNone,
    "every pair of ranks exchanges n/P directly, inside nodes and between them at once"},
  AlgorithmRow{Op::alltoall, kPairwisePxn, kAlways, pairwise_pxn_alltoall, kNone, kNone,
    "handed over inside the node first, then one message per pair of nodes and local index"},
};
// clang-format on

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
  std::vector<std::string_view> names;
  for (const Algorithm& row : kAlgorithms) {
    names.push_back(row.name);
  }
  return names;
}

std::vector<std::string_view> block_algorithms() {
  std::vector<std::string_view> names;
  for (const Algorithm& row : kAlgorithms) {
    if (row.block_streams > 0) {
      names.push_back(row.name);
    }
  }
  return names;
}

bool needs_equal_nodes(const Collective& collective) {
  if (collective.algorithm != Id::automatic) {
    return algorithm(collective.algorithm).needs_equal_nodes;
  }
  return std::ranges::all_of(valid_algorithms(collective.op),
                             [](Id id) { return algorithm(id).needs_equal_nodes; });
}

bool is_two_level(AlgorithmId id) {
  return id == Id::hierarchical || id == Id::hierarchical_leader;
}

// With two levels the blocks may be those of either level.
bool sends_blocks(AlgorithmId id, const Options& options) {
  return algorithm(id).block_streams > 0 ||
         (is_two_level(id) && algorithm(options.inter_algorithm).block_streams > 0) ||
         (id == Id::hierarchical_leader && algorithm(options.intra_algorithm).block_streams > 0);
}

std::span<const AlgorithmRow> algorithm_table() { return kTable; }

std::vector<AlgorithmId> valid_algorithms(Op op) {
  std::vector<AlgorithmId> algorithms;
  for (const AlgorithmRow& row : kTable) {
    if (row.op == op) {
      algorithms.push_back(row.algorithm);
    }
  }
  return algorithms;
}

const AlgorithmRow* find_algorithm(Op op, AlgorithmId algorithm) {
  for (const AlgorithmRow& row : kTable) {
    if (row.op == op && row.algorithm == algorithm) {
      return &row;
    }
  }
  return nullptr;
}

std::vector<AlgorithmId> default_candidates(const Collective& collective) {
  std::vector<AlgorithmId> candidates;
  for (const AlgorithmRow& row : kTable) {
    const bool taken =
        row.candidate == kAlways || (row.candidate == kTwoLevel && collective.links.two_level);
    const bool unequal = algorithm(row.algorithm).needs_equal_nodes && collective.links.two_level &&
                         collective.ranks % collective.links.two_level->gpus_per_node != 0;
    if (row.op == collective.op && taken && !unequal &&
        takes_ranks(row.algorithm, collective.ranks)) {
      candidates.push_back(row.algorithm);
    }
  }
  return candidates;
}

} // namespace stepsim::coll
