#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "collectives/algorithms.hpp"
#include "collectives/point.hpp"
#include "collectives/schedule/ring_rails.hpp"
#include "collectives/schedule/two_level.hpp"

using namespace stepsim::collectives;
using stepsim::collectives::test::point;

TEST_CASE("names: every operation and algorithm reads back from its word") {
  for (const AlgorithmRow& row : algorithm_table()) {
    CHECK(parse_op(name(row.op)) == row.op);
    CHECK(parse_algorithm(name(row.algorithm)) == row.algorithm);
  }
  CHECK(parse_algorithm("auto") == AlgorithmId::automatic);
  CHECK(parse_algorithm("rng") == std::nullopt);
  CHECK(parse_op("") == std::nullopt);
  CHECK(name(Method::max_plus) == "max_plus");
}

TEST_CASE("names: operations offer what the overview table lists") {
  using Id = AlgorithmId;
  const std::vector chains{Id::mst, Id::be, Id::lp, kRingRails, kTwoLevel};
  CHECK(valid_algorithms(Op::broadcast) == chains);
  CHECK(valid_algorithms(Op::reduce) == chains);
  CHECK(valid_algorithms(Op::allreduce).size() == 16);
  CHECK(valid_algorithms(Op::reduce_scatter) ==
        std::vector{Id::be, Id::bruck, Id::ring, Id::mst, kRingRails, kTwoLevel, kNvls});
  CHECK(valid_algorithms(Op::allgatherv) ==
        std::vector{Id::ring, Id::bruck, Id::be, kRingRails, kTwoLevel});
}

TEST_CASE("algorithm table: no row twice, every row has a closed form and a summary") {
  std::set<std::pair<Op, AlgorithmId>> seen;
  for (const AlgorithmRow& row : algorithm_table()) {
    CHECK(seen.insert({row.op, row.algorithm}).second);
    CHECK(bool(row.exact != nullptr));
    CHECK(!row.summary.empty());
    CHECK(find_algorithm(row.op, row.algorithm) == &row);
  }
  CHECK(find_algorithm(Op::allgather, AlgorithmId::lp) == nullptr);
}

TEST_CASE("algorithm table: auto tries the hierarchical kinds on two-level clusters only") {
  Collective c = point(Op::allreduce, AlgorithmId::automatic, 8, 1e6, {1e-5, 1e-9, 0});
  const auto has = [&](AlgorithmId id) {
    const std::vector<AlgorithmId> list = default_candidates(c);
    return std::find(list.begin(), list.end(), id) != list.end();
  };
  CHECK(default_candidates(c).front() == AlgorithmId::recursive_doubling);
  CHECK(default_candidates(c).size() == 7);
  CHECK_FALSE(has(AlgorithmId::hierarchical));
  c.links.two_level = TwoLevel{4, 1, {1e-6, 1e-6, 1e-11}};
  CHECK(has(AlgorithmId::hierarchical));
  CHECK(has(AlgorithmId::hierarchical_leader));
  CHECK_FALSE(has(AlgorithmId::parameter_server));
  c.ranks = 9; // nodes of 4, 4 and 1
  CHECK_FALSE(has(AlgorithmId::hierarchical));
  CHECK(has(AlgorithmId::hierarchical_leader));
}

TEST_CASE("homogeneous: equal links, rates and entry times") {
  Collective c = point(Op::allreduce, AlgorithmId::ring, 3, 1e6, {1e-5, 1e-9, 0});
  CHECK(c.homogeneous());
  SUBCASE("different entry times") {
    c.enter_s = {0, 0, 1};
    CHECK_FALSE(c.homogeneous());
  }
  SUBCASE("the same entry time, listed") {
    c.enter_s = {2, 2, 2};
    CHECK(c.homogeneous());
  }
  SUBCASE("one slow adder") {
    c.reduction_s_per_byte_rank = {0, 1e-10, 0};
    CHECK_FALSE(c.homogeneous());
  }
  SUBCASE("one slow link") {
    c.links.pairs = {{0, 1, {1e-5, 1e-5, 2e-9}}};
    CHECK_FALSE(c.homogeneous());
  }
  SUBCASE("a listed link like all others") {
    c.links.pairs = {{0, 1, c.links.all}};
    CHECK(c.homogeneous());
  }
  SUBCASE("only some pairs have a link") {
    c.links.pairs = {{0, 1, c.links.all}};
    c.links.pairs_only = true;
    CHECK_FALSE(c.homogeneous());
  }
  SUBCASE("two levels: the hierarchical kinds, or one node, or one rank per node") {
    c.links.two_level = TwoLevel{2, 1, {1e-6, 1e-6, 1e-11}};
    CHECK_FALSE(c.homogeneous());
    c.algorithm = AlgorithmId::hierarchical_leader;
    CHECK(c.homogeneous());
    c.algorithm = AlgorithmId::ring;
    c.links.two_level->gpus_per_node = 4;
    CHECK(c.homogeneous());
    c.links.two_level->gpus_per_node = 1;
    CHECK(c.homogeneous());
  }
}
