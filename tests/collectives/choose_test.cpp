#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/formula/closed_form.hpp"
#include "collectives/formula/lower_bound.hpp"
#include "collectives/method.hpp"
#include "collectives/point.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::collectives;
using stepsim::collectives::test::kRates;
using stepsim::collectives::test::point;
using stepsim::testing::within;
using Id = AlgorithmId;

namespace {

auto near(double value, double tolerance = 1e-9) { return within(value, tolerance); }

Collective automatic(Op op, std::uint32_t ranks, double bytes) {
  return point(op, Id::automatic, ranks, bytes, kRates);
}

std::vector<CostByBytes> costs_of(const Collective& collective, std::span<const Id> algorithms) {
  std::vector<CostByBytes> costs;
  for (const Id algorithm : algorithms) {
    costs.push_back(cost_by_bytes(collective, algorithm));
  }
  return costs;
}

} // namespace

TEST_CASE("auto: the cheapest of the all-reduce table") {
  const auto check = [](std::uint32_t ranks, double bytes, Id chosen, double seconds) {
    CAPTURE(ranks);
    CAPTURE(bytes);
    const Choice choice = choose_algorithm(automatic(Op::allreduce, ranks, bytes));
    CHECK(choice.chosen == chosen);
    CHECK(choice.chosen_s == near(seconds, 1e-8));
  };
  const auto [a, b, g] = kRates;
  check(8, 1e3, Id::recursive_doubling, 32.7e-6);
  check(8, 1e5, Id::be, 208.75e-6);
  check(8, 1e8, Id::be, 0.14881);
  check(6, 1e3, Id::recursive_doubling, 43.5e-6);
  check(6, 1e8, Id::bruck, 6 * a + 5.0 / 6 * 1e8 * (2 * b + g));
}

TEST_CASE("auto: be and bruck tie on powers of two, the first in the list wins") {
  const Choice choice = choose_algorithm(automatic(Op::allreduce, 8, 1e8));
  CHECK(choice.chosen == Id::be);
  CHECK(choice.runner_up.value() == Id::bruck);
  CHECK(choice.runner_up_s.value() == near(choice.chosen_s));
  Collective c = automatic(Op::allreduce, 8, 1e8);
  c.options.candidates = {Id::ring, Id::bruck, Id::be};
  CHECK(choose_algorithm(c).chosen == Id::bruck);
}

TEST_CASE("auto: a single candidate has no runner-up") {
  Collective c = automatic(Op::allreduce, 8, 1e6);
  c.options.candidates = {Id::mst};
  const Choice choice = choose_algorithm(c);
  CHECK(choice.chosen == Id::mst);
  CHECK_FALSE(choice.runner_up.has_value());
}

TEST_CASE("auto: one rank costs nothing") {
  CHECK(choose_algorithm(automatic(Op::allreduce, 1, 1e6)).chosen_s == 0);
}

TEST_CASE("auto: a link three times as slow is swept, not taken from the closed form") {
  Collective c = automatic(Op::allreduce, 4, 1e6);
  c.links.pairs = {{1, 2, {kRates.alpha, kRates.alpha, 3 * kRates.beta}}};
  c.options.candidates = {Id::ring, Id::be};
  const Choice choice = choose_algorithm(c);
  // be with partners 1-3 and 0-2, then 0-1 and 2-3 never uses 1 -> 2.
  CHECK(choice.chosen == Id::be);
  CHECK(choice.chosen_s ==
        near(closed_form(point(Op::allreduce, Id::be, 4, 1e6, kRates))->seconds));
  Collective ring = c;
  ring.algorithm = Id::ring;
  CHECK(choice.runner_up_s.value() == near(max_plus(ring).seconds));
}

TEST_CASE("auto: entry times do not count in the choice") {
  Collective c = automatic(Op::allreduce, 6, 1e6);
  const Choice together = choose_algorithm(c);
  c.enter_s = {0, 5, 0, 0, 1, 0};
  const Choice apart = choose_algorithm(c);
  CHECK(apart.chosen == together.chosen);
  CHECK(apart.chosen_s == together.chosen_s);
  CHECK(apart.runner_up_s == together.runner_up_s);
}

TEST_CASE("auto: never dearer than any candidate (random instances)") {
  constexpr std::uint64_t kSeed = 31;
  CAPTURE(kSeed);
  stepsim::base::RandomStream random({kSeed, 0, 0, 0, 0});
  const std::array ops{Op::broadcast,      Op::reduce,    Op::allreduce,
                       Op::reduce_scatter, Op::allgather, Op::allgatherv};
  for (int i = 0; i < 300; ++i) {
    const auto ranks = static_cast<std::uint32_t>(random.integer(1, 17));
    Collective c =
        point(ops[static_cast<std::size_t>(i) % ops.size()], Id::automatic, ranks,
              std::floor(std::pow(10, random.uniform(0, 6))),
              {random.uniform(0, 1e-4), random.uniform(1e-11, 1e-8), random.uniform(0, 2e-8)});
    if (i % 5 == 0 && ranks > 1) {
      c.links.pairs = {{0, 1, {1e-5, 1e-5, 1e-8}}};
    }
    CAPTURE(i);
    CAPTURE(ranks);
    const Choice choice = choose_algorithm(c);
    for (const Id candidate : default_candidates(c)) {
      CHECK(choice.chosen_s <= candidate_cost(c, candidate) * (1 + 1e-12));
    }
    CHECK(choice.chosen_s == candidate_cost(c, choice.chosen));
  }
}

TEST_CASE("crossovers: recursive doubling against be and ring, D = L (b+g) - f (2b+g)") {
  for (const auto& [ranks, be, ring] :
       {std::tuple{4U, 38095.24, 76190.48}, std::tuple{8U, 24742.27, 90721.65},
        std::tuple{16U, 19937.69, 129595.02}}) {
    const auto [a, b, g] = kRates;
    const double L = std::log2(ranks);
    const double f = (ranks - 1.0) / ranks;
    const double D = L * (b + g) - 2 * f * b - f * g;
    const Collective c = automatic(Op::allreduce, ranks, 1);
    for (const auto& [other, expected, formula] :
         {std::tuple{Id::be, be, L * a / D},
          std::tuple{Id::ring, ring, (2 * (ranks - 1) - L) * a / D}}) {
      const std::vector<Id> pair{Id::recursive_doubling, other};
      const std::vector<Crossover> found = find_crossovers(costs_of(c, pair), 1, 1e9);
      REQUIRE(found.size() == 1);
      CHECK(pair[found[0].below] == Id::recursive_doubling);
      CHECK(pair[found[0].above] == other);
      CHECK(found[0].bytes == near(formula, 2e-9));
      CHECK(found[0].bytes == near(expected, 1e-6));
    }
  }
}

TEST_CASE("crossovers: mst against be broadcast at (P-1) alpha / ((L - 2f) beta)") {
  for (const auto& [ranks, expected] :
       {std::pair{4U, 75000.0}, std::pair{8U, 70000.0}, std::pair{16U, 88235.29}}) {
    const double f = (ranks - 1.0) / ranks;
    const double formula = (ranks - 1) * kRates.alpha / ((std::log2(ranks) - 2 * f) * kRates.beta);
    const std::vector<Id> pair{Id::mst, Id::be};
    const std::vector<Crossover> found =
        find_crossovers(costs_of(automatic(Op::broadcast, ranks, 1), pair), 1, 1e9);
    REQUIRE(found.size() == 1);
    CHECK(found[0].bytes == near(formula, 2e-9));
    CHECK(found[0].bytes == near(expected, 1e-6));
  }
}

TEST_CASE("crossovers: be and ring have none, and the choice flips at those found") {
  const std::vector<Id> pair{Id::be, Id::ring};
  CHECK(find_crossovers(costs_of(automatic(Op::allreduce, 8, 1), pair), 1, 1e9).empty());
  for (const std::uint32_t ranks : {4U, 6U, 8U, 13U}) {
    for (const Op op : {Op::allreduce, Op::broadcast}) {
      Collective c = automatic(op, ranks, 1);
      const std::vector<Id> all = candidates_of(c);
      const std::vector<Crossover> found = find_crossovers(costs_of(c, all), 16, 1e9);
      CHECK(found.size() >= 1);
      for (const Crossover& crossover : found) {
        c.bytes = crossover.bytes * (1 - 1e-6);
        CHECK(choose_algorithm(c).chosen == all[crossover.below]);
        c.bytes = crossover.bytes * (1 + 1e-6);
        CHECK(choose_algorithm(c).chosen == all[crossover.above]);
      }
    }
  }
}

TEST_CASE("method: closed form where it is exact, else max_plus, events for what is shared") {
  Collective c = point(Op::allreduce, Id::ring, 4, 1000, kRates);
  CHECK(automatic_method(c) == Method::closed_form);
  c.options.chunking = Chunking::integer;
  CHECK(automatic_method(c) == Method::closed_form);
  c.bytes = 1001;
  CHECK(automatic_method(c) == Method::max_plus);
  c.options.chunking = Chunking::real;
  c.enter_s = {0, 0, 3, 0};
  CHECK(automatic_method(c) == Method::max_plus);
  c.enter_s.clear();
  c.algorithm = Id::double_binary_tree; // an upper bound
  CHECK(automatic_method(c) == Method::max_plus);
  c.options.cost_form = CostForm::paper; // no schedule has that cost
  CHECK(automatic_method(c) == Method::closed_form);
  c.options.cost_form = CostForm::exact;
  c.algorithm = Id::automatic; // recursive_doubling at this size
  CHECK(automatic_method(c) == Method::closed_form);
  c.links.two_level = TwoLevel{2, 1, {1e-6, 1e-6, 1e-11}};
  c.algorithm = Id::hierarchical;
  CHECK(automatic_method(c) == Method::closed_form);
  c.algorithm = Id::ring;
  CHECK(automatic_method(c) == Method::max_plus);
  c.algorithm = Id::mst;
  CHECK(automatic_method(c) == Method::events);
  c.links.two_level->nics_per_node = 2;
  CHECK(automatic_method(c) == Method::max_plus);
  c.links.two_level.reset();
  c.algorithm = Id::parameter_server;
  c.options.servers = 2;
  CHECK(automatic_method(c) == Method::closed_form);
  c.enter_s = {0, 0, 3, 0};
  CHECK(automatic_method(c) == Method::events);
  c.options.servers = 1;
  CHECK(automatic_method(c) == Method::max_plus);
}

TEST_CASE("method: what is chosen automatically equals events (random instances)") {
  constexpr std::uint64_t kSeed = 32;
  CAPTURE(kSeed);
  stepsim::base::RandomStream random({kSeed, 0, 0, 0, 0});
  for (int i = 0; i < 60; ++i) {
    for (const AlgorithmRow& row : algorithm_table()) {
      if (stepsim::collectives::test::in_switch(row.algorithm)) {
        continue;
      }
      const auto per_node = static_cast<std::uint32_t>(random.integer(1, 4));
      const std::uint32_t any = per_node * static_cast<std::uint32_t>(random.integer(1, 4));
      const std::uint32_t ranks = takes_ranks(row.algorithm, any) ? any : 2 * any;
      Collective c =
          point(row.op, row.algorithm, ranks, static_cast<double>(random.integer(1, 5000)),
                {random.uniform(0, 1e-5), random.uniform(1e-10, 1e-8), random.uniform(0, 1e-8)});
      c.options.chunking = i % 2 == 0 ? Chunking::integer : Chunking::real;
      c.options.reduction_mode = i % 3 == 0 ? ReductionMode::serial : ReductionMode::overlapped;
      c.root = static_cast<std::uint32_t>(random.integer(0, ranks - 1));
      if (row.algorithm == Id::parameter_server) {
        c.options.servers = static_cast<std::uint32_t>(random.integer(1, ranks));
      } else if (i % 4 < 2) {
        c.links.two_level = TwoLevel{
            per_node, static_cast<std::uint32_t>(random.integer(1, per_node)), {1e-7, 1e-7, 1e-11}};
      }
      CAPTURE(i);
      CAPTURE(name(row.op));
      CAPTURE(name(row.algorithm));
      CAPTURE(ranks);
      CAPTURE(per_node);
      CAPTURE(c.bytes);
      if (static_share_estimates(c)) {
        continue; // max_plus stays the choice, with a warning in the record
      }
      const Method method = automatic_method(c);
      CAPTURE(name(method));
      CHECK(seconds(c, method) == near(seconds(c, Method::events)));
    }
  }
}

TEST_CASE("method: a time below the bound is an internal error") {
  const Collective c = point(Op::allreduce, Id::ring, 8, 1e6, kRates);
  const double bound = lower_bound(c).seconds();
  CHECK_NOTHROW(check_bound(c, Method::events, bound));
  CHECK_THROWS_WITH_AS(check_bound(c, Method::events, bound / 2),
                       doctest::Contains("allreduce ring of 1e+06 bytes on 8 ranks"),
                       stepsim::SimulationError);
}

TEST_CASE("method: no closed form for unequal ranks") {
  Collective c = point(Op::allreduce, Id::ring, 4, 1e6, kRates);
  c.enter_s = {0, 1, 0, 0};
  CHECK_THROWS_AS((void)seconds(c, Method::closed_form), stepsim::SimulationError);
}
