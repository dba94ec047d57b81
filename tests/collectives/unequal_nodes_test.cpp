// Nodes with different numbers of ranks (CLU 3.6): which rank is where, hierarchical_leader and
// flat algorithms on them, the bounds, and what is refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/formula/closed_form.hpp"
#include "collectives/formula/lower_bound.hpp"
#include "collectives/method.hpp"
#include "collectives/node_ranks.hpp"
#include "collectives/nodes.hpp"
#include "collectives/schedule/ring_rails.hpp"
#include "collectives/schedule/schedule.hpp"
#include "collectives/schedule/two_level.hpp"
#include "collectives/validate.hpp"
#include "testing/tolerance.hpp"

namespace stepsim::collectives {
namespace {

using stepsim::testing::within;
using Counts = std::vector<std::uint32_t>;

constexpr double kSlack = 1e-9;
constexpr double kBytes = 6e6;

Collective on_counts(Op op, AlgorithmId algorithm, const Counts& counts, std::uint32_t cards,
                     double bytes = kBytes) {
  const auto ranks = std::accumulate(counts.begin(), counts.end(), 0U);
  Collective collective = test::on_nodes(op, algorithm, {1, ranks, cards}, bytes);
  collective.links.two_level->gpus_per_node = *std::ranges::max_element(counts);
  collective.links.two_level->ranks_per_node = counts;
  return collective;
}

TEST_CASE(
    "node ranks: listed nodes follow each other, others have as many ranks but for the last") {
  const TwoLevel listed{.gpus_per_node = 3, .intra = {}, .ranks_per_node = {3, 1, 2}};
  const NodeRanks nodes(listed, 6);
  CHECK(nodes.nodes() == 3);
  CHECK(nodes.largest() == 3);
  CHECK(nodes.smallest() == 1);
  CHECK_FALSE(nodes.equal());
  const Counts node_of{0, 0, 0, 1, 2, 2};
  const Counts local{0, 1, 2, 0, 0, 1};
  for (std::uint32_t rank = 0; rank < 6; ++rank) {
    CHECK(nodes.node(rank) == node_of[rank]);
    CHECK(nodes.local(rank) == local[rank]);
  }
  CHECK(nodes.first(2) == 4);
  CHECK(nodes.size(1) == 1);
  CHECK(nodes.size(2) == 2);
  const NodeRanks plain(TwoLevel{.gpus_per_node = 4, .intra = {}}, 10);
  CHECK(plain.nodes() == 3);
  CHECK(plain.size(2) == 2);
  CHECK(plain.node(9) == 2);
  CHECK(plain.local(9) == 1);
  CHECK(plain.smallest() == 2);
}

TEST_CASE("unequal nodes: a list of equal counts, or of one smaller last node, changes nothing") {
  for (const AlgorithmRow& row : algorithm_table()) {
    if (algorithm(row.algorithm).in_switch || row.algorithm == AlgorithmId::parameter_server) {
      continue;
    }
    for (const Counts& counts : {Counts{4, 4, 4}, Counts{4, 4, 2}}) {
      if (counts.back() < 4 && algorithm(row.algorithm).needs_equal_nodes) {
        continue;
      }
      CAPTURE(name(row.op));
      CAPTURE(name(row.algorithm));
      const Collective listed = on_counts(row.op, row.algorithm, counts, 2);
      Collective plain = listed;
      plain.links.two_level->ranks_per_node.clear();
      CHECK(max_plus(listed).seconds == max_plus(plain).seconds);
      CHECK(events(listed).seconds == events(plain).seconds);
      CHECK(lower_bound(listed).seconds() == lower_bound(plain).seconds());
    }
  }
}

// 3, 1 and 2 ranks: two messages of the whole into the leader of the first node, a ring of three
// leaders, two messages back. The first leader is the last to be ready and delays all others.
TEST_CASE("unequal nodes: hierarchical_leader waits for the largest node") {
  const double inside = test::kAlphaInside + kBytes * test::kBetaInside;
  const double across = test::kAlphaAcross + kBytes / 3 * test::kBetaAcross;
  for (const Counts& counts : {Counts{3, 1, 2}, Counts{1, 3, 2}, Counts{1, 2, 3}}) {
    const Collective collective =
        on_counts(Op::allreduce, AlgorithmId::hierarchical_leader, counts, 1);
    CHECK(max_plus(collective).seconds == within(2 * inside + 4 * across + 2 * inside, kSlack));
    CHECK(events(collective).seconds == within(max_plus(collective).seconds, kSlack));
    CHECK(closed_form(collective)->upper_bound);
    CHECK(seconds(collective, Method::closed_form) >= max_plus(collective).seconds * (1 - kSlack));
  }
}

// A ring crosses every border between nodes once, so that no card has two flows.
TEST_CASE("unequal nodes: a flat ring costs its slowest hop") {
  const double across = test::kAlphaAcross + kBytes / 6 * test::kBetaAcross;
  for (const Counts& counts : {Counts{3, 1, 2}, Counts{1, 1, 4}, Counts{5, 1}}) {
    const Collective ring = on_counts(Op::allreduce, AlgorithmId::ring, counts, 1);
    CHECK(max_plus(ring).seconds == within(10 * across, kSlack));
    CHECK(events(ring).seconds == within(10 * across, kSlack));
  }
}

Counts random_counts(base::RandomStream& random) {
  Counts counts;
  const std::int64_t nodes = random.integer(2, 6);
  for (std::int64_t node = 0; node < nodes; ++node) {
    counts.push_back(static_cast<std::uint32_t>(random.integer(1, 6)));
  }
  return counts;
}

TEST_CASE("unequal nodes: max_plus and events agree for hierarchical_leader") {
  constexpr std::uint64_t kSeed = 31;
  CAPTURE(kSeed);
  base::RandomStream random({.seed = kSeed});
  const std::vector<AlgorithmId> inner{AlgorithmId::mst, AlgorithmId::be, AlgorithmId::lp};
  const std::vector<AlgorithmId> outer{AlgorithmId::ring, AlgorithmId::mst,
                                       AlgorithmId::recursive_doubling,
                                       AlgorithmId::double_binary_tree};
  for (int i = 0; i < 200; ++i) {
    Collective collective =
        on_counts(Op::allreduce, AlgorithmId::hierarchical_leader, random_counts(random), 1,
                  static_cast<double>(random.integer(1, 5'000'000)));
    collective.options.intra_algorithm = inner[static_cast<std::size_t>(random.integer(0, 2))];
    collective.options.inter_algorithm = outer[static_cast<std::size_t>(random.integer(0, 3))];
    collective.options.chunking = random.integer(0, 1) == 0 ? Chunking::integer : Chunking::real;
    collective.reduction_s_per_byte = random.integer(0, 1) == 0 ? 0 : 1e-11;
    if (random.integer(0, 2) == 0) {
      collective.links.all.delay_s = 3e-6;
    }
    CAPTURE(i);
    CHECK(events(collective).seconds == within(max_plus(collective).seconds, kSlack));
  }
}

TEST_CASE("unequal nodes: the smallest node bounds what it must receive") {
  // Nodes of 4 and 1 ranks, 4 cards: the single rank has one card of 25 GB/s for everything.
  const Counts counts{4, 1};
  const auto bound = [&](Op op) {
    return lower_bound(on_counts(op, AlgorithmId::automatic, counts, 4, 1e8)).bandwidth_s;
  };
  CHECK(bound(Op::broadcast) == within(1e8 / 25e9, kSlack));
  CHECK(bound(Op::allreduce) == within(1e8 / 25e9, kSlack));
  CHECK(bound(Op::allgather) == within(0.8 * 1e8 / 25e9, kSlack));
  CHECK(bound(Op::reduce_scatter) == within(0.8 * 1e8 / 25e9, kSlack));
  // One card a node: both carry half of 2 (N-1) n.
  CHECK(lower_bound(on_counts(Op::allreduce, AlgorithmId::automatic, {4, 2, 1}, 1, 1e8))
            .bandwidth_s == within(4.0 / 3 * 1e8 / 25e9, kSlack));
}

TEST_CASE("unequal nodes: algorithms that need equal counts have no schedule") {
  for (const AlgorithmId algorithm : {kTwoLevel, kRingRails, AlgorithmId::hierarchical}) {
    const Collective collective = on_counts(Op::allreduce, algorithm, {3, 1, 2}, 1);
    const std::string message = std::string(name(algorithm)) +
                                " needs equal ranks per node, got 6 ranks in nodes of 1 to 3; try "
                                "hierarchical_leader";
    CHECK_THROWS_WITH_AS((void)make_schedule(collective), message.c_str(), SimulationError);
  }
}

TEST_CASE("unequal nodes: algorithms that need equal counts are refused with an advice") {
  const auto finding = [](Op op, AlgorithmId algorithm) {
    const std::vector<Finding> findings = validate(on_counts(op, algorithm, {3, 1, 2}, 1));
    return findings.empty() ? std::string()
                            : findings.front().what + ": " + findings.front().message;
  };
  const std::string rest =
      " needs as many ranks on every node; use hierarchical_leader, or ring on "
      "one card of a node";
  CHECK(finding(Op::allreduce, kTwoLevel) == "ranks_per_node: two_level" + rest);
  CHECK(finding(Op::allreduce, kRingRails) == "ranks_per_node: ring_rails" + rest);
  CHECK(finding(Op::allreduce, AlgorithmId::hierarchical) == "ranks_per_node: hierarchical" + rest);
  CHECK(finding(Op::allgather, kTwoLevel) ==
        "ranks_per_node: two_level needs as many ranks on every node; use ring on one card of a "
        "node");
  CHECK(finding(Op::allreduce, AlgorithmId::hierarchical_leader).empty());
  CHECK(finding(Op::allreduce, AlgorithmId::automatic).empty());
}

TEST_CASE("unequal nodes: auto leaves out what needs equal counts") {
  const auto candidates =
      default_candidates(on_counts(Op::allreduce, AlgorithmId::automatic, {3, 1, 2}, 1));
  CHECK(std::ranges::find(candidates, AlgorithmId::hierarchical_leader) != candidates.end());
  CHECK(std::ranges::find(candidates, kTwoLevel) == candidates.end());
}

} // namespace
} // namespace stepsim::collectives
