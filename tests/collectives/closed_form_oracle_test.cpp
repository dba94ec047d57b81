// The closed forms against the schedule itself, swept by max_plus: equal to 1e-9 (both sum the same
// terms in another order), or an upper bound where they say so.
#include <doctest/doctest.h>

#include <cmath>

#include "base/random.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/formula/blocks.hpp"
#include "collectives/formula/closed_form.hpp"
#include "collectives/formula/uniform.hpp"
#include "collectives/point.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::collectives;
using stepsim::collectives::test::point;
using stepsim::testing::within;
using Id = AlgorithmId;

namespace {

constexpr double kTolerance = 1e-9;

void compare(const Collective& collective) {
  const std::optional<ClosedForm> form = closed_form(collective);
  if (!form) {
    return;
  }
  CAPTURE(name(collective.op));
  CAPTURE(name(collective.algorithm));
  CAPTURE(collective.ranks);
  CAPTURE(collective.bytes);
  CAPTURE(collective.options.reduction_mode == ReductionMode::serial);
  const bool several_servers =
      collective.algorithm == Id::parameter_server &&
      (collective.options.servers > 1 || collective.options.placement == Placement::sharded);
  const double swept = several_servers ? events(collective).seconds : max_plus(collective).seconds;
  if (form->upper_bound) {
    CHECK(form->seconds >= swept * (1 - kTolerance));
  } else {
    CHECK(form->seconds == within(swept, kTolerance));
  }
}

} // namespace

TEST_CASE("closed form: equals max_plus for 1 to 33 ranks, every algorithm, both modes") {
  constexpr std::uint64_t kSeed = 21;
  CAPTURE(kSeed);
  stepsim::base::RandomStream random({kSeed, 0, 0, 0, 0});
  for (std::uint32_t ranks = 1; ranks <= 33; ++ranks) {
    for (const AlgorithmRow& row : algorithm_table()) {
      if (!takes_ranks(row.algorithm, ranks) ||
          stepsim::collectives::test::in_switch(row.algorithm)) {
        continue;
      }
      for (const ReductionMode mode : {ReductionMode::overlapped, ReductionMode::serial}) {
        for (const double additions : {0.0, 0.7, 3.0}) { // gamma / beta, up to
          const double beta = random.uniform(1e-10, 1e-8);
          Collective c =
              point(row.op, row.algorithm, ranks, static_cast<double>(random.integer(1, 5000)),
                    {random.uniform(0, 1e-5), beta, additions * beta * random.uniform()});
          c.options.reduction_mode = mode;
          c.options.servers = static_cast<std::uint32_t>(random.integer(1, 9));
          c.options.placement = std::array{Placement::dedicated, Placement::colocated,
                                           Placement::sharded}[random.integer(0, 2)];
          if (c.options.placement == Placement::colocated) {
            c.options.servers = std::min(c.options.servers, ranks);
          }
          c.root = static_cast<std::uint32_t>(random.integer(0, ranks - 1));
          compare(c);
        }
      }
    }
  }
}

TEST_CASE("closed form: equals max_plus for blocks of every size, with and without last hop") {
  constexpr std::uint64_t kSeed = 22;
  CAPTURE(kSeed);
  stepsim::base::RandomStream random({kSeed, 0, 0, 0, 0});
  for (int i = 0; i < 6000; ++i) {
    CAPTURE(i);
    const std::int64_t bytes = random.integer(1, 300);
    const double beta = random.uniform(0, 1);
    const auto ranks = static_cast<std::uint32_t>(random.integer(2, 33));
    const bool tree = i % 4 == 3;
    const Op op =
        tree ? Op::allreduce : std::array{Op::broadcast, Op::reduce, Op::allreduce}[i % 4];
    Collective c =
        point(op, tree ? Id::double_binary_tree : Id::lp, ranks, static_cast<double>(bytes),
              {random.uniform(0, 5), beta, 1.5 * beta * random.uniform()});
    if (i % 3 == 0) {
      c.reduction_s_per_byte = 0;
    }
    if (i % 5 < 3) {
      c.links.all.block_latency_s *= random.uniform();
    }
    c.options.block = stepsim::Bytes{random.integer(1, bytes)};
    c.options.lp_last_hop = i % 7 < 4;
    c.options.reduction_mode =
        random.integer(0, 1) == 0 ? ReductionMode::serial : ReductionMode::overlapped;
    CAPTURE(c.options.block->value);
    CAPTURE(c.links.all.latency_s);
    CAPTURE(c.links.all.block_latency_s);
    compare(c);
  }
}

TEST_CASE("closed form: two levels equal max_plus, equal nodes, any interfaces") {
  constexpr std::uint64_t kSeed = 23;
  CAPTURE(kSeed);
  stepsim::base::RandomStream random({kSeed, 0, 0, 0, 0});
  for (int i = 0; i < 300; ++i) {
    CAPTURE(i);
    const auto nodes = static_cast<std::uint32_t>(random.integer(1, 9));
    const auto per_node = static_cast<std::uint32_t>(random.integer(1, 9));
    Collective c =
        point(Op::allreduce, i % 2 == 0 ? Id::hierarchical : Id::hierarchical_leader,
              nodes * per_node, static_cast<double>(random.integer(1, 100000)),
              {random.uniform(0, 1e-5), random.uniform(1e-10, 1e-8), random.uniform(0, 1e-9)});
    const double latency = random.uniform(0, 1e-6);
    c.links.two_level = TwoLevel{per_node,
                                 static_cast<std::uint32_t>(random.integer(1, per_node)),
                                 {latency, latency, random.uniform(1e-11, 1e-9)}};
    c.options.reduction_mode = i % 3 == 0 ? ReductionMode::serial : ReductionMode::overlapped;
    c.options.inter_algorithm =
        std::array{Id::ring, Id::be, Id::bruck, Id::mst, Id::recursive_doubling}[i % 5];
    c.options.intra_algorithm = std::array{Id::mst, Id::be}[random.integer(0, 1)];
    CAPTURE(nodes);
    CAPTURE(per_node);
    CAPTURE(name(c.options.inter_algorithm));
    CAPTURE(name(c.options.intra_algorithm));
    compare(c);
  }
}

TEST_CASE("lp: an all-reduce with additions slower than hops, as the block search takes it") {
  for (std::uint32_t ranks = 2; ranks <= 12; ++ranks) {
    for (std::int64_t blocks = 1; blocks <= 30; ++blocks) {
      for (const double gamma : {1.01, 2.0, 20.0}) {
        Collective c =
            point(Op::allreduce, Id::lp, ranks, static_cast<double>(blocks), {0, 1, gamma});
        c.options.block = stepsim::Bytes{1};
        CAPTURE(ranks);
        CAPTURE(blocks);
        CHECK(lp_allreduce_slow_additions(symbols(c), *resolve_blocks(c)) ==
              within(max_plus(c).seconds, kTolerance));
      }
    }
  }
}

TEST_CASE("double tree: max_plus of 77 blocks is just below the closed form") {
  const Collective c = point(Op::allreduce, Id::double_binary_tree, 8, 1e8, {1e-5, 8e-10, 0});
  CHECK(max_plus(c).seconds == within(0.165727403, 1e-8));
  CHECK(closed_form(c)->seconds == within(0.166256883, 1e-8));
  // A last block of b' bytes: n / 2m bytes for every block would be less than what runs.
  Collective cut = point(Op::allreduce, Id::double_binary_tree, 5, 1e5, {1e-6, 1e-9, 0});
  cut.options.block = stepsim::Bytes{45618};
  const double whole = 1e-6 + 45618e-9;
  const double last = 1e-6 + (50000 - 45618) * 1e-9;
  CHECK(closed_form(cut)->seconds == within(2 * 5 * whole + 2 * 2 * last, 1e-12));
  CHECK(max_plus(cut).seconds > 2 * (2 + 5) * (1e-6 + 1e5 / 4 * 1e-9));
}
