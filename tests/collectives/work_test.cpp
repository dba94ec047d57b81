#include "collectives/method.hpp"

#include <doctest/doctest.h>

#include "collectives/algorithms.hpp"
#include "collectives/on_fabric.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using collectives::AlgorithmId;
using collectives::Collective;
using collectives::Method;
using testing::within;

namespace {

Collective exchange(AlgorithmId algorithm, std::uint32_t ranks, double bytes) {
  Collective collective;
  collective.op = collectives::Op::allreduce;
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
    return collectives::evaluation_seconds(ring, Method::events);
  };
  // 2 (P - 1) steps of P transfers
  CHECK((seconds(512) - 1e-6) / (seconds(8) - 1e-6) ==
        within(2.0 * 511 * 512 / (2.0 * 7 * 8), 1e-9));
}

TEST_CASE("work: of auto the candidate counts that formulas choose, not the slowest") {
  Collective pipeline = exchange(AlgorithmId::lp, 1 << 18, 1e8);
  // With the times of transfers no rank stands for others.
  CHECK(collectives::evaluation_seconds(pipeline, std::nullopt, true) > 600);
  Collective automatic = pipeline;
  automatic.algorithm = AlgorithmId::automatic;
  CHECK(collectives::evaluation_seconds(automatic, std::nullopt, true) < 5);
  pipeline.links.all.delay_s = 1e-6; // blocks are searched for, and no rank stands for others
  CHECK(collectives::evaluation_seconds(pipeline, std::nullopt) > 300); // and answers at once
}

TEST_CASE("work: what a few ranks tell of all takes as long whatever the number of transfers") {
  for (const auto algorithm : {AlgorithmId::lp, AlgorithmId::double_binary_tree}) {
    const Collective streams = exchange(algorithm, 1 << 18, 1e8);
    for (const auto method : {Method::max_plus, Method::events}) {
      CHECK(collectives::evaluation_seconds(streams, method) < 1);
      CHECK(collectives::evaluation_seconds(streams, method, true) > 10); // every transfer is timed
    }
    Collective slow = streams; // blocks are searched for, each number by a few ranks
    slow.reduction_s_per_byte = 4 * slow.links.all.per_byte_s;
    CHECK(collectives::evaluation_seconds(slow, std::nullopt) < 10);
  }
}

TEST_CASE("work: one path of largest messages costs as little as a formula") {
  for (const auto algorithm : {AlgorithmId::be, AlgorithmId::bruck, AlgorithmId::ring}) {
    const Collective uneven = exchange(algorithm, 1 << 18, 1e8); // no multiple of 4 P bytes
    CHECK(!collectives::parts_divide(uneven));
    CHECK(collectives::evaluation_seconds(uneven, std::nullopt) < 1e-5);
  }
  const Collective uneven = exchange(AlgorithmId::be, 1 << 18, 1e8);
  CHECK(collectives::evaluation_seconds(uneven, Method::max_plus) > 0.1); // every rank is played
}

TEST_CASE("work: a ring whose connections share no link of a fabric is a sweep, not its flows") {
  const std::uint32_t hosts = 256;
  const auto seconds = [&](links::NodeId stride) { // neighbours on one leaf, or on two
    std::vector<links::NodeId> order;
    for (links::NodeId rank = 0; rank < hosts; ++rank) {
      order.push_back(rank * stride % (hosts - 1));
    }
    order.back() = hosts - 1;
    return collectives::evaluation_seconds(
        collectives::test::on_fabric(exchange(AlgorithmId::ring, hosts, 4e6),
                                     links::leaf_spine({16, 16, 1, {1e-6, 1e9}, {1e-6, 4e9}}),
                                     order),
        Method::events);
  };
  const double transfers = 2.0 * hosts * (hosts - 1);
  CHECK(seconds(1) < 1e-8 * transfers);
  CHECK(seconds(16) > 1e-6 * transfers);
}

TEST_CASE("work: of auto on a fabric pipelines that are no candidates count for nothing") {
  Collective few = collectives::test::on_fabric(exchange(AlgorithmId::automatic, 8, 1e9),
                                                links::star(8, {1e-6, 1e10}),
                                                collectives::test::hosts_in_order(8));
  few.options.block = Bytes{100};
  Collective none = few;
  none.options.candidates = collectives::candidates_of(few);
  std::erase_if(none.options.candidates,
                [](AlgorithmId id) { return collectives::algorithm(id).block_streams > 0; });
  REQUIRE(none.options.candidates.size() < collectives::candidates_of(few).size());
  CHECK(collectives::evaluation_seconds(few, {}) == collectives::evaluation_seconds(none, {}));
}

TEST_CASE("work: with the times of ranks every rank of a ring is played") {
  const Collective ring = exchange(AlgorithmId::ring, 1 << 14, 0x1p26);
  const double transfers = 2 * 0x1p14 * (0x1p14 - 1);
  for (const auto method : {Method::closed_form, Method::max_plus, Method::events}) {
    CHECK(collectives::evaluation_seconds(ring, method) < 0.1);
    CHECK(collectives::evaluation_seconds(ring, method, true) > 0.1e-6 * transfers);
    CHECK(collectives::evaluation_seconds(ring, method, true) < 0.14e-6 * transfers);
  }
}

TEST_CASE("work: all nodes of equal ones are played by events") {
  Collective levels = exchange(AlgorithmId::hierarchical, 1 << 16, 0x1p26);
  levels.links.two_level = collectives::TwoLevel{
      .gpus_per_node = 8,
      .intra = {.latency_s = 1e-6, .block_latency_s = 1e-6, .per_byte_s = 1e-11}};
  CHECK(collectives::evaluation_seconds(levels, Method::events) > 20);
}

TEST_CASE("work: a formula costs nothing, a tree of a million ranks what building it takes") {
  CHECK(collectives::evaluation_seconds(exchange(AlgorithmId::ring, 1 << 20, 1e9),
                                        Method::closed_form) < 1e-5);
  CHECK(collectives::evaluation_seconds(exchange(AlgorithmId::double_binary_tree, 1 << 20, 1e9),
                                        Method::closed_form) == within(1e-7 * (1 << 20), 1e-4));
}

TEST_CASE("work: blocks that are searched for are estimated without the search") {
  Collective two_levels = exchange(AlgorithmId::lp, 17 * 8, 0x1p53);
  two_levels.links.two_level = collectives::TwoLevel{
      .gpus_per_node = 8,
      .nics_per_node = 1,
      .intra = {.latency_s = 1e-6, .block_latency_s = 1e-6, .per_byte_s = 1e-11}};
  const double longest =
      collectives::evaluation_seconds(two_levels, Method::events); // answers at once
  two_levels.bytes = 0x1p33; // blocks are as many as the square root of the wire time
  CHECK(longest ==
        within(1024 * collectives::evaluation_seconds(two_levels, Method::events), 1e-4));
  two_levels.links.two_level->gpus_per_node = 2; // four times the hops over the network
  CHECK(longest == within(512 * collectives::evaluation_seconds(two_levels, Method::events), 1e-4));
}

TEST_CASE("work: a tree with additions slower than links tries its blocks rank by rank") {
  Collective tree = exchange(AlgorithmId::double_binary_tree, 512, 1e8);
  const double quick = collectives::evaluation_seconds(tree, Method::closed_form);
  tree.reduction_s_per_byte = 4 * tree.links.all.per_byte_s;
  CHECK(collectives::evaluation_seconds(tree, Method::closed_form) > 10 * quick);
  CHECK(collectives::automatic_method(tree) == Method::max_plus);
}

TEST_CASE("work: a choice among algorithms takes at least as long as its longest candidate") {
  Collective two_levels = exchange(AlgorithmId::lp, 17 * 8, 0x1p53);
  two_levels.links.two_level = collectives::TwoLevel{
      .gpus_per_node = 8,
      .nics_per_node = 1,
      .intra = {.latency_s = 1e-6, .block_latency_s = 1e-6, .per_byte_s = 1e-11}};
  const double pipeline = collectives::evaluation_seconds(two_levels, std::nullopt);
  two_levels.algorithm = AlgorithmId::automatic;
  CHECK(collectives::evaluation_seconds(two_levels, std::nullopt) >= pipeline);
}
