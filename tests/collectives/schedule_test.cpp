#include "collectives/algorithms.hpp"
#include "collectives/schedule/schedule.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/point.hpp"
#include "testing/tolerance.hpp"

namespace stepsim::collectives {
namespace {

using stepsim::testing::within;
using test::point;
using Id = AlgorithmId;

constexpr std::size_t kAll = 1'000'000'000;

// `odd_trees`: also a second tree with one block less, whose last slots may stay empty.
std::vector<Rule> rules_for(Index size, bool odd_trees) {
  Index core = 1;
  while (2 * core <= size) {
    core *= 2;
  }
  std::vector<Rule> rules{RingPass{size, false},
                          RingPass{size, true},
                          BinomialTree{size, Direction::spread},
                          BinomialTree{size, Direction::collect},
                          NearTree{size, Direction::collect},
                          FlatTree{size, Direction::spread},
                          FlatTree{size, Direction::collect},
                          BinomialSplit{size, Direction::spread},
                          BinomialSplit{size, Direction::collect},
                          Bruck{size, false},
                          Bruck{size, true},
                          Fold{size, core, Direction::collect},
                          Fold{size, core, Direction::spread}};
  if (core == size) {
    rules.insert(rules.end(), {Halving{size}, Doubling{size}, FullExchange{size}});
  }
  for (const Index blocks : {1, 2, 7, 40}) {
    rules.insert(rules.end(), {Chain{size, blocks, false}, Chain{size, blocks, true},
                               ChainRing{size, blocks, true}, ChainRing{size, blocks, false},
                               TreePair(size, {blocks, odd_trees ? blocks - 1 : blocks})});
  }
  return rules;
}

TEST_CASE("schedule: whoever is sent to receives from the sender in that step, and nobody else") {
  for (Index size = 2; size <= 33; ++size) {
    for (const Rule& any_rule : rules_for(size, true)) {
      CAPTURE(size);
      CAPTURE(name(any_rule));
      std::visit(
          [&](const auto& rule) {
            Index sends = 0;
            for (Index step = 0; step < rule.steps(); ++step) {
              Index receptions = 0;
              for (Index rank = 0; rank < size; ++rank) {
                const Send send = rule.send(step, rank);
                if (send.peer != kNobody) {
                  ++sends;
                  REQUIRE(send.peer != rank);
                  REQUIRE(send.count >= 1);
                  REQUIRE(rule.receive(step, send.peer).peer == rank);
                }
                const Receive receive = rule.receive(step, rank);
                if (receive.peer != kNobody) {
                  ++receptions;
                  REQUIRE(rule.send(step, receive.peer).peer == rank);
                }
              }
              sends -= receptions;
              REQUIRE(sends == 0);
            }
          },
          any_rule);
    }
  }
}

TEST_CASE("schedule: the last step of every rule is used") {
  for (Index size = 2; size <= 33; ++size) {
    for (const Rule& any_rule : rules_for(size, false)) {
      CAPTURE(size);
      CAPTURE(name(any_rule));
      if (std::holds_alternative<Fold>(any_rule) && (size & (size - 1)) == 0) {
        continue; // nothing to fold
      }
      std::visit(
          [&](const auto& rule) {
            bool used = false;
            for (Index rank = 0; rank < size; ++rank) {
              used = used || rule.send(rule.steps() - 1, rank).peer != kNobody;
            }
            CHECK(used);
          },
          any_rule);
    }
  }
}

TEST_CASE("schedule: a layout finds the place of every rank it names, and of no other") {
  const Layout rotated{.size = 7, .shift = 3, .modulus = 7};
  const Layout core{.size = 4, .shift = 5, .modulus = 7}; // the first ranks after a root
  const Layout nodes{.groups = 3, .group_stride = 4, .size = 4, .modulus = 4};
  const Layout last_node{.base = 12, .size = 3, .modulus = 3};
  const Layout peers{
      .base = 1, .groups = 2, .group_stride = 1, .rank_stride = 4, .size = 3, .modulus = 3};
  const Layout leaders{.rank_stride = 4, .size = 3, .modulus = 3};
  const Layout single{.groups = 1, .group_stride = 1, .rank_stride = 1, .size = 5, .modulus = 5};
  for (const Layout& layout : {rotated, core, nodes, last_node, peers, leaders, single}) {
    std::vector<char> named(20, 0);
    for (Index group = 0; group < layout.groups; ++group) {
      for (Index local = 0; local < layout.size; ++local) {
        const Index rank = layout.rank(group, local);
        CHECK(layout.place(rank).group == group);
        CHECK(layout.place(rank).local == local);
        CHECK(named[static_cast<std::size_t>(rank)]++ == 0);
      }
    }
    for (Index rank = 0; rank < 20; ++rank) {
      CHECK((layout.place(rank).group == kNobody) == (named[static_cast<std::size_t>(rank)] == 0));
    }
  }
}

TEST_CASE("partition: 11 bytes in 4 parts are 3, 3, 3, 2; in elements of 2 of 22: 6, 6, 6, 4") {
  Options options;
  const Partition bytes = Partition::equal(11, 4, options);
  options.element_bytes = 2;
  const Partition elements = Partition::equal(22, 4, options);
  CHECK(Partition::equal(23, 4, options).bytes(0, 4) == 23); // no byte is dropped (COL 2.5)
  options.chunking = Chunking::real;
  const Partition real = Partition::equal(22, 4, options);
  for (const Index part : {0, 1, 2, 3}) {
    CHECK(bytes.bytes(part, 1) == (part < 11 % 4 ? 3 : 2));
    CHECK(elements.bytes(part, 1) == (part < 11 % 4 ? 6 : 4));
    CHECK(real.bytes(part, 1) == 22.0 / 4);
    CHECK(bytes.begin(part) == 3.0 * static_cast<double>(part));
  }
  CHECK(bytes.bytes(2, 3) == 3 + 2 + 3); // around the end
  CHECK(bytes.bytes(0, 4) == 11);
}

TEST_CASE("partition: blocks of 4 of two sections of 9 and 5 bytes") {
  const Partition blocks = Partition::blocks({9, 5}, 4);
  CHECK(blocks.blocks_of(0) == 3);
  CHECK(blocks.blocks_of(1) == 2);
  const std::vector<double> bytes{4, 4, 9 - 8, 4, 5 - 4};
  const std::vector<double> begin{0, 4, 8, 9, 9 + 4};
  for (Index part = 0; part < blocks.parts(); ++part) {
    CHECK(blocks.bytes(part, 1) == bytes[static_cast<std::size_t>(part)]);
    CHECK(blocks.begin(part) == begin[static_cast<std::size_t>(part)]);
  }
  for (Index count = 1; count <= 1000; ++count) { // a block of n / m makes m blocks
    CHECK(Partition::blocks({1e8, 0}, 1e8 / static_cast<double>(count)).parts() == count);
  }
}

struct Row {
  Op op;
  Id algorithm;
  double total; // bytes on the wire, per n
  double steps;
};

// COL 4, P a power of two: bytes over all ranks in units of n, and steps. m = 8 blocks of lp and of
// each tree.
TEST_CASE("schedule: bytes on the wire and steps of the overview table") {
  constexpr double n = 4096;
  constexpr double m = 8;
  for (const double P : {2.0, 4.0, 8.0, 16.0, 32.0}) {
    const double L = std::log2(P);
    const std::vector<Row> rows{{Op::broadcast, Id::mst, P - 1, L},
                                {Op::broadcast, Id::be, P - 1 + L / 2, L + P - 1},
                                {Op::broadcast, Id::lp, P - 1, m + P - 2},
                                {Op::reduce, Id::mst, P - 1, L},
                                {Op::reduce, Id::be, P - 1 + L / 2, 2 * L},
                                {Op::reduce, Id::lp, P - 1, m + P - 2},
                                {Op::allreduce, Id::mst, 2 * (P - 1), 2 * L},
                                {Op::allreduce, Id::be, 2 * (P - 1), 2 * L},
                                {Op::allreduce, Id::bruck, 2 * (P - 1), 2 * L},
                                {Op::allreduce, Id::ring, 2 * (P - 1), 2 * (P - 1)},
                                {Op::allreduce, Id::recursive_doubling, P * L, L},
                                {Op::allreduce, Id::lp, 2 * P - 1, std::max(m, P) + m + P - 2},
                                {Op::reduce_scatter, Id::ring, P - 1, P - 1},
                                {Op::reduce_scatter, Id::be, P - 1, L},
                                {Op::reduce_scatter, Id::bruck, P - 1, L},
                                {Op::reduce_scatter, Id::mst, P - 1 + L / 2, 2 * L},
                                {Op::allgather, Id::ring, P - 1, P - 1},
                                {Op::allgather, Id::be, P - 1, L},
                                {Op::allgather, Id::bruck, P - 1, L},
                                {Op::allgather, Id::mst, P - 1 + L / 2, 2 * L}};
    for (const Row& row : rows) {
      CAPTURE(P);
      CAPTURE(name(row.op));
      CAPTURE(name(row.algorithm));
      Collective collective =
          point(row.op, row.algorithm, static_cast<std::uint32_t>(P), n, {1, 1, 0});
      collective.options.block = Bytes{static_cast<std::int64_t>(n / m)};
      const Traffic sent = traffic(collective);
      CHECK(sent.total == within(row.total * n, 1e-12));
      CHECK(static_cast<double>(sent.steps) == row.steps);
    }
    Collective trees =
        point(Op::allreduce, Id::double_binary_tree, static_cast<std::uint32_t>(P), n, {1, 1, 0});
    trees.options.block = Bytes{static_cast<std::int64_t>(n / 2 / m)};
    CHECK(traffic(trees).total == 2 * (P - 1) * n);
    CHECK(traffic(trees).max_per_rank == (P >= 4 ? 2 : 1) * n);
  }
}

TEST_CASE("schedule: bytes sent by the rank that sends most and least") {
  constexpr double n = 4800;
  struct Case {
    Op op;
    Id algorithm;
    std::uint32_t ranks;
    double least, most;
  };
  const double f = 7.0 / 8;
  const std::vector<Case> cases{
      {Op::broadcast, Id::mst, 8, 0, 3},
      {Op::broadcast, Id::be, 8, f, 2 * f},
      {Op::broadcast, Id::lp, 8, 0, 1},
      {Op::reduce, Id::be, 8, f, f + 0.5},
      {Op::allreduce, Id::ring, 8, 2 * f, 2 * f},
      {Op::allreduce, Id::lp, 8, 1, 2},
      {Op::allreduce, Id::be, 6, 1, 2 * 0.75 + 1}, // folded: extra n, core with a partner most
      {Op::reduce_scatter, Id::mst, 8, f, 1.5 - 1.0 / 8},
      {Op::allgather, Id::mst, 8, 1.0 / 8, 3},
  };
  for (const Case& row : cases) {
    CAPTURE(name(row.op));
    CAPTURE(name(row.algorithm));
    Collective collective = point(row.op, row.algorithm, row.ranks, n, {1, 1, 0});
    collective.options.block = Bytes{100};
    CHECK(traffic(collective).min_per_rank == within(row.least * n, 1e-12));
    CHECK(traffic(collective).max_per_rank == within(row.most * n, 1e-12));
  }
}

TEST_CASE("schedule: traffic counts what the transfers carry, and all-reduce carries 2(P-1)n") {
  constexpr std::uint64_t kSeed = 5;
  CAPTURE(kSeed);
  base::RandomStream random({.seed = kSeed});
  for (std::uint32_t ranks = 1; ranks <= 33; ++ranks) {
    for (const Op op :
         {Op::broadcast, Op::reduce, Op::allreduce, Op::reduce_scatter, Op::allgather}) {
      for (const Id algorithm : valid_algorithms(op)) {
        if (algorithm == Id::parameter_server || !takes_ranks(algorithm, ranks) ||
            stepsim::collectives::test::in_switch(algorithm)) {
          continue;
        }
        Collective collective =
            point(op, algorithm, ranks, static_cast<double>(random.integer(0, 5000)), {1, 1, 0});
        collective.options.chunking = Chunking::integer;
        collective.options.block = Bytes{64};
        CAPTURE(name(op));
        CAPTURE(name(algorithm));
        CAPTURE(ranks);
        CAPTURE(collective.bytes);
        const Traffic sent = traffic(collective);
        std::vector<double> per_rank(ranks, 0.0);
        std::uint64_t messages = 0;
        for (const TransferRecord& transfer : list_transfers(collective, kAll)) {
          per_rank[transfer.src] += transfer.bytes;
          ++messages;
        }
        double total = 0;
        for (const double bytes : per_rank) {
          CHECK(bytes >= sent.min_per_rank);
          CHECK(bytes <= sent.max_per_rank);
          total += bytes;
        }
        CHECK(sent.total == total);
        CHECK(sent.messages == messages);
        if (op == Op::allreduce) {
          CHECK(total >= 2 * (ranks - 1.0) * collective.bytes);
        }
      }
    }
  }
}

TEST_CASE("schedule: an operation without the algorithm is refused by name") {
  const auto text = [](Op op, Id algorithm) {
    try {
      (void)make_schedule(point(op, algorithm, 4, 100, {1, 1, 0}));
    } catch (const SimulationError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CHECK(text(Op::allgather, Id::lp) == "allgather has no flat algorithm lp");
  CHECK(text(Op::broadcast, Id::double_binary_tree) ==
        "broadcast has no flat algorithm double_binary_tree");
  CHECK(text(Op::broadcast, Id::hierarchical) == "broadcast has no algorithm hierarchical");

  Collective uneven = point(Op::allreduce, Id::hierarchical, 7, 100, {1, 1, 0});
  uneven.links.two_level = TwoLevel{4, 1, {}};
  CHECK_THROWS_WITH_AS((void)make_schedule(uneven),
                       "hierarchical needs equal ranks per node, got 7 ranks in nodes of 4; try "
                       "hierarchical_leader",
                       SimulationError);
}

} // namespace
} // namespace stepsim::collectives
