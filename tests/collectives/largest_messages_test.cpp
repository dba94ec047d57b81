#include "collectives/evaluate/few_ranks.hpp"

#include <doctest/doctest.h>

#include <random>

#include "collectives/algorithms.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/point.hpp"
#include "collectives/schedule/swing.hpp"

namespace stepsim::collectives {
namespace {

const std::vector<Op> kOpsOfParts{Op::allreduce, Op::reduce_scatter, Op::allgather};

} // namespace

TEST_CASE("largest messages: one path takes as long as all ranks, to the bit") {
  std::mt19937_64 random(5);
  const auto draw = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  int found = 0;
  for (std::uint32_t ranks = 2; ranks <= 70; ++ranks) {
    for (const Op op : kOpsOfParts) {
      for (const AlgorithmId id : valid_algorithms(op)) {
        if (!has_transfers(id) || is_two_level(id) || !takes_ranks(id, ranks)) {
          continue;
        }
        for (int trial = 0; trial < 12; ++trial) {
          const double gamma = trial % 2 == 0 ? 0 : 1e-10 * static_cast<double>(draw(1, 90));
          Collective collective =
              test::point(op, id, ranks, 4 * static_cast<double>(draw(1, 9 * ranks)),
                          {1e-7 * static_cast<double>(draw(0, 99)), 1e-9, gamma});
          collective.options.chunking = trial == 11 ? Chunking::real : Chunking::integer;
          collective.options.reduction_mode =
              trial % 3 == 0 ? ReductionMode::serial : ReductionMode::overlapped;
          collective.links.all.delay_s = trial % 4 == 3 ? 3.3e-6 : 0;
          collective.root =
              op == Op::allreduce ? static_cast<std::uint32_t>(draw(0, ranks - 1)) : 0;
          if (trial % 5 == 4) {
            collective.enter_s.assign(ranks, 0.01);
          }
          if (trial % 6 == 5) {
            collective.links.two_level.emplace();
          }
          CAPTURE(name(id));
          CAPTURE(name(op));
          CAPTURE(ranks);
          CAPTURE(trial);
          CAPTURE(collective.bytes);
          if (const std::optional<double> quick = seconds_of_largest_messages(collective)) {
            ++found;
            CHECK(*quick == max_plus(collective).seconds);
          }
        }
      }
    }
  }
  CHECK(found > 1000);
}

TEST_CASE("largest messages: there is a path for every size if ranks are a power of two") {
  for (const std::uint32_t ranks : {2U, 4U, 8U, 16U, 64U}) {
    for (const AlgorithmId id : {AlgorithmId::be, AlgorithmId::bruck, kSwing}) {
      for (double elements = 1; elements <= 3 * ranks; ++elements) {
        Collective collective =
            test::point(Op::allreduce, id, ranks, 4 * elements, {1e-6, 1e-9, 0});
        collective.options.chunking = Chunking::integer;
        CHECK(seconds_of_largest_messages(collective).has_value());
      }
    }
  }
}

TEST_CASE("largest messages: ranks that differ, enter one by one or do not send are played") {
  Collective collective = test::point(Op::allreduce, AlgorithmId::be, 8, 36, {1e-6, 1e-9, 1e-9});
  collective.options.chunking = Chunking::integer;
  REQUIRE(seconds_of_largest_messages(collective).has_value());
  Collective late = collective;
  late.enter_s.assign(8, 0);
  late.enter_s[3] = 1e-6;
  CHECK(!seconds_of_largest_messages(late));
  Collective slow = collective;
  slow.links.pairs.push_back({0, 1, {1e-3, 1e-3, 1e-9}});
  CHECK(!seconds_of_largest_messages(slow));
  Collective folded = collective; // the ranks beyond 4 only give and take the whole
  folded.ranks = 5;
  CHECK(!seconds_of_largest_messages(folded));
  Collective tree = collective;
  tree.algorithm = AlgorithmId::mst;
  CHECK(!seconds_of_largest_messages(tree));
}

} // namespace stepsim::collectives
