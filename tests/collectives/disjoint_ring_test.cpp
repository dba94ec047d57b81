// A ring whose connections share no link: what max_plus says of it is what its events say, 1e-12.
#include "collectives/evaluate/few_ranks.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "base/random.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/on_fabric.hpp"
#include "collectives/point.hpp"
#include "testing/tolerance.hpp"

namespace stepsim::collectives {
namespace {

using stepsim::testing::within;
using test::on_fabric;
using test::point;
constexpr double kSame = 1e-12;

void check_same(const Collective& collective) {
  const auto quick = disjoint_ring(collective);
  REQUIRE(quick);
  const Evaluation general = events(collective, true); // asks for what the quick one has not
  CHECK(quick->seconds == within(general.seconds, kSame));
  CHECK(quick->messages == general.messages);
  CHECK(quick->events == general.events);
  for (std::size_t rank = 0; rank < general.ranks.finish_s.size(); ++rank) {
    CHECK(quick->ranks.finish_s[rank] == within(general.ranks.finish_s[rank], kSame));
  }
  REQUIRE(quick->links.size() == general.links.size());
  for (std::size_t link = 0; link < general.links.size(); ++link) {
    CHECK(quick->links[link].bytes == within(general.links[link].bytes, kSame));
    CHECK(quick->links[link].busy_s == within(general.links[link].busy_s, kSame));
  }
}

TEST_CASE("disjoint ring: times, counts and uses of links are those of the events") {
  base::RandomStream random({.seed = 21});
  for (int instance = 0; instance < 120; ++instance) {
    CAPTURE(instance);
    const auto leaves = static_cast<std::uint32_t>(random.integer(1, 4));
    const auto hosts = static_cast<std::uint32_t>(random.integer(2, 6));
    const std::uint32_t ranks = leaves * hosts;
    const links::LinkSpeed down{random.uniform(0, 3e-6), 1.25e9};
    const links::LinkSpeed up{random.uniform(0, 3e-6), random.uniform(0.5e9, 5e9)};
    const Op op = random.integer(0, 2) == 0   ? Op::allgather
                  : random.integer(0, 1) == 0 ? Op::reduce_scatter
                                              : Op::allreduce;
    Collective collective =
        on_fabric(point(op, AlgorithmId::ring, ranks,
                        static_cast<double>(random.integer(100, 5'000'000)), {}),
                  links::leaf_spine({leaves, hosts, 2, down, up}), test::hosts_in_order(ranks),
                  {.seed = static_cast<std::uint64_t>(instance)});
    collective.reduction_s_per_byte = random.integer(0, 1) == 0 ? 0 : random.uniform(0, 2e-9);
    collective.options.reduction_mode =
        random.integer(0, 1) == 0 ? ReductionMode::serial : ReductionMode::overlapped;
    collective.options.chunking = random.integer(0, 1) == 0 ? Chunking::real : Chunking::integer;
    if (random.integer(0, 3) == 0) {
      collective.links.all = {1e-6, 1e-6, 1 / 0.7e9}; // beside the fabric
    }
    if (random.integer(0, 3) == 0) {
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        collective.enter_s.push_back(random.uniform(0, 1e-3));
      }
    }
    check_same(collective);
  }
}

TEST_CASE("disjoint ring: two ranks a host talk inside it") {
  Collective collective = test::on_fabric(point(Op::allreduce, AlgorithmId::ring, 8, 1e6, {}),
                                          links::star(4, {1e-6, 1.25e9}), {0, 0, 1, 1, 2, 2, 3, 3});
  collective.links.two_level = TwoLevel{2, 1, {1e-6, 1e-6, 1e-10}};
  check_same(collective);
}

TEST_CASE("disjoint ring: only where no link is shared, and only a ring without delays") {
  const auto on = [](AlgorithmId algorithm, std::vector<links::NodeId> hosts) {
    return test::on_fabric(point(Op::allreduce, algorithm, 8, 1e6, {}),
                           links::leaf_spine({2, 4, 1, {1e-6, 1e9}, {1e-6, 4e9}}),
                           std::move(hosts));
  };
  const std::vector<links::NodeId> in_order = test::hosts_in_order(8);
  CHECK(disjoint_ring(on(AlgorithmId::ring, in_order)));
  CHECK(!disjoint_ring(on(AlgorithmId::recursive_doubling, in_order)));
  CHECK(!disjoint_ring(on(AlgorithmId::ring, {0, 4, 1, 5, 2, 6, 3, 7}))); // all over one spine
  Collective delayed = on(AlgorithmId::ring, in_order);
  delayed.links.all.delay_s = 1e-6;
  CHECK(!disjoint_ring(delayed));
  Collective few = on(AlgorithmId::ring, in_order);
  few.options.chunking = Chunking::integer;
  few.bytes = 7; // the last part is empty
  CHECK(!disjoint_ring(few));
}

} // namespace
} // namespace stepsim::collectives
