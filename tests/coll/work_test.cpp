#include "coll/work.hpp"

#include <doctest/doctest.h>

#include "coll/method.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using coll::AlgorithmId;
using coll::Collective;
using coll::Method;
using testing::within;

namespace {

Collective exchange(AlgorithmId algorithm, std::uint32_t ranks, double bytes) {
  Collective collective;
  collective.op = coll::Op::allreduce;
  collective.algorithm = algorithm;
  collective.ranks = ranks;
  collective.bytes = bytes;
  collective.links.all = {.latency_s = 1e-5, .block_latency_s = 1e-5, .per_byte_s = 1 / 1.25e9};
  return collective;
}

} // namespace

TEST_CASE("work: events take time in proportion to the transfers of the schedule") {
  const auto seconds = [](std::uint32_t ranks) {
    Collective ring = exchange(AlgorithmId::ring, ranks, 1e9);
    ring.enter_s.resize(ranks);
    ring.enter_s.front() = 1e-6; // equal ranks are one
    return coll::evaluation_seconds(ring, Method::events);
  };
  // 2 (P - 1) steps of P transfers
  CHECK((seconds(512) - 1e-6) / (seconds(8) - 1e-6) ==
        within(2.0 * 511 * 512 / (2.0 * 7 * 8), 1e-9));
}

TEST_CASE("work: of auto the candidate counts that formulas choose, not the slowest") {
  const Collective pipeline = exchange(AlgorithmId::lp, 1 << 18, 1e8);
  CHECK(coll::evaluation_seconds(pipeline, std::nullopt) > 600);
  const Collective automatic = exchange(AlgorithmId::automatic, 1 << 18, 1e8);
  CHECK(coll::evaluation_seconds(automatic, std::nullopt) < 5);
}

TEST_CASE("work: with the times of ranks every rank of a ring is played") {
  const Collective ring = exchange(AlgorithmId::ring, 1 << 14, 0x1p26);
  const double transfers = 2 * 0x1p14 * (0x1p14 - 1);
  for (const auto method : {Method::closed_form, Method::max_plus, Method::events}) {
    CHECK(coll::evaluation_seconds(ring, method) < 0.1);
    CHECK(coll::evaluation_seconds(ring, method, true) > 0.1e-6 * transfers);
    CHECK(coll::evaluation_seconds(ring, method, true) < 0.14e-6 * transfers);
  }
}

TEST_CASE("work: two nodes that stand for all are what is played by events") {
  Collective levels = exchange(AlgorithmId::hierarchical, 1 << 16, 0x1p26);
  levels.links.two_level =
      coll::TwoLevel{.gpus_per_node = 8,
                     .intra = {.latency_s = 1e-6, .block_latency_s = 1e-6, .per_byte_s = 1e-11}};
  CHECK(coll::evaluation_seconds(levels, Method::events) < 1);
  levels.bytes += 4; // parts that differ
  CHECK(coll::evaluation_seconds(levels, Method::events) > 20);
}

TEST_CASE("work: a formula costs nothing, a tree of a million ranks what building it takes") {
  CHECK(coll::evaluation_seconds(exchange(AlgorithmId::ring, 1 << 20, 1e9), Method::closed_form) <
        1e-5);
  CHECK(coll::evaluation_seconds(exchange(AlgorithmId::double_binary_tree, 1 << 20, 1e9),
                                 Method::closed_form) == within(0.5e-6 * (1 << 20), 1e-4));
}

TEST_CASE("work: blocks that are searched for are estimated without the search") {
  Collective two_levels = exchange(AlgorithmId::lp, 17 * 8, 0x1p53);
  two_levels.links.two_level =
      coll::TwoLevel{.gpus_per_node = 8,
                     .nics_per_node = 1,
                     .intra = {.latency_s = 1e-6, .block_latency_s = 1e-6, .per_byte_s = 1e-11}};
  CHECK(coll::evaluation_seconds(two_levels, Method::events) > 600); // and answers at once
}

TEST_CASE("work: a tree with additions slower than links tries its blocks rank by rank") {
  Collective tree = exchange(AlgorithmId::double_binary_tree, 512, 1e8);
  const double quick = coll::evaluation_seconds(tree, Method::closed_form);
  tree.reduction_s_per_byte = 4 * tree.links.all.per_byte_s;
  CHECK(coll::evaluation_seconds(tree, Method::closed_form) > 10 * quick);
  CHECK(coll::automatic_method(tree) == Method::max_plus);
}

TEST_CASE("work: a choice among algorithms takes at least as long as its longest candidate") {
  Collective two_levels = exchange(AlgorithmId::lp, 17 * 8, 0x1p53);
  two_levels.links.two_level =
      coll::TwoLevel{.gpus_per_node = 8,
                     .nics_per_node = 1,
                     .intra = {.latency_s = 1e-6, .block_latency_s = 1e-6, .per_byte_s = 1e-11}};
  const double pipeline = coll::evaluation_seconds(two_levels, std::nullopt);
  two_levels.algorithm = AlgorithmId::automatic;
  CHECK(coll::evaluation_seconds(two_levels, std::nullopt) >= pipeline);
}
