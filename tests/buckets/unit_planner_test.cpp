// Sharding units against the FSDP program itself: every division of small random models, rows U1
// to U3 of TRN 11.7, and the tables of TRN 6 for Llama-3.1-8B and ResNet-152.
#include "buckets/unit_planner.hpp"
#include "buckets/unit_search.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "programs/builders/fsdp_program.hpp"
#include "programs/recurrence.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::buckets;
using stepsim::Seconds;
using stepsim::base::RandomStream;
using stepsim::testing::within;

namespace {

UnitCost linear(double startup, double per_parameter) {
  return [=](std::int64_t parameters) {
    return startup + per_parameter * static_cast<double>(parameters);
  };
}

std::vector<stepsim::programs::UnitTimes> unit_times(const UnitProblem& problem, const Cuts& cuts) {
  std::vector<stepsim::programs::UnitTimes> units;
  std::size_t layer = 0;
  for (std::size_t u = 0; u <= cuts.size(); ++u) {
    stepsim::programs::UnitTimes& unit = units.emplace_back();
    std::int64_t parameters = 0;
    for (; layer < (u < cuts.size() ? cuts[u] : problem.layers.size()); ++layer) {
      unit.forward += problem.layers[layer].forward;
      unit.backward += problem.layers[layer].backward;
      parameters += problem.layers[layer].parameters;
    }
    if (parameters > 0) {
      unit.gather.data = Seconds{problem.gather(parameters)};
      unit.reduce.data = Seconds{problem.reduce(parameters)};
    }
  }
  return units;
}

stepsim::programs::FsdpOptions options_of(const UnitProblem& problem) {
  return {.update = problem.update,
          .reshard_after_forward = problem.reshard_after_forward,
          .keep_last = problem.keep_last,
          .ahead_forward = problem.ahead_forward,
          .ahead_backward = problem.ahead_backward,
          .reduces_in_flight = problem.reduces_in_flight,
          .communicators = problem.communicators};
}

// The end of the update of the first iteration, which is the period: everything waits for it.
double period_of_program(const UnitProblem& problem, const Cuts& cuts) {
  return stepsim::programs::recurrence(
             stepsim::programs::fsdp_program(unit_times(problem, cuts), options_of(problem)), 1)
      .makespan_s;
}

std::vector<Cuts> all_cuts(std::size_t layers) {
  std::vector<Cuts> all;
  for (std::uint32_t set = 0; set < 1U << (layers - 1); ++set) {
    Cuts& cuts = all.emplace_back();
    for (std::uint32_t c = 1; c < layers; ++c) {
      if ((set >> (c - 1) & 1U) != 0) {
        cuts.push_back(c);
      }
    }
  }
  return all;
}

bool fits(const UnitProblem& problem, const Cuts& cuts) {
  std::size_t layer = 0;
  for (std::size_t u = 0; u <= cuts.size(); ++u) {
    const std::size_t end = u < cuts.size() ? cuts[u] : problem.layers.size();
    std::int64_t parameters = 0;
    const std::size_t layers = end - layer;
    for (; layer < end; ++layer) {
      parameters += problem.layers[layer].parameters;
    }
    if (problem.max_unit_parameters && layers > 1 && parameters > *problem.max_unit_parameters) {
      return false;
    }
  }
  return true;
}

// The least period, then fewest units, then smallest cuts, of all divisions.
UnitPlan brute_force(const UnitProblem& problem) {
  UnitPlan best;
  best.period = Seconds{std::numeric_limits<double>::infinity()};
  std::vector<std::pair<double, Cuts>> tried;
  for (Cuts& cuts : all_cuts(problem.layers.size())) {
    if (fits(problem, cuts)) {
      const double period = period_of_program(problem, cuts);
      best.period = Seconds{std::min(best.period.value, period)};
      tried.emplace_back(period, std::move(cuts));
    }
  }
  bool found = false;
  for (const auto& [period, cuts] : tried) {
    const bool fewer =
        cuts.size() < best.cuts.size() || (cuts.size() == best.cuts.size() && cuts < best.cuts);
    if (period <= best.period.value * (1 + 1e-12) && (!found || fewer)) {
      best.cuts = cuts;
      found = true;
    }
  }
  return best;
}

std::optional<std::uint32_t> random_limit(RandomStream& random) {
  const std::int64_t value = random.integer(-1, 3);
  return value < 0 ? std::nullopt : std::optional(static_cast<std::uint32_t>(value));
}

// Half of them in quarters, where equal periods are frequent.
UnitProblem random_problem(RandomStream& random, std::int64_t most_layers) {
  const bool coarse = random.integer(0, 1) == 0;
  const auto seconds = [&](double most) {
    const double value = random.uniform(0, most);
    return coarse ? std::floor(4 * value) / 4 : value;
  };
  UnitProblem problem;
  const double weight = random.uniform(0.1, 3); // of communication
  for (std::int64_t l = random.integer(1, most_layers); l > 0; --l) {
    problem.layers.push_back({.forward = Seconds{seconds(4)},
                              .backward = Seconds{seconds(8)},
                              .parameters = random.integer(0, 16)});
  }
  problem.gather = linear(seconds(3), weight * (coarse ? 0.25 : 0.3));
  problem.reduce = linear(seconds(3), weight * (coarse ? 0.5 : 0.4));
  if (random.integer(0, 4) == 0) { // a table: steps, with cheaper bytes above 20
    problem.gather = [](std::int64_t parameters) {
      return parameters < 20 ? 1 + 0.25 * static_cast<double>((parameters + 3) / 4) : 2.5;
    };
  }
  problem.update = Seconds{seconds(2)};
  problem.reshard_after_forward = random.integer(0, 3) > 0;
  problem.keep_last = random.integer(0, 1) == 0;
  problem.ahead_forward = random_limit(random);
  problem.ahead_backward = random_limit(random);
  problem.reduces_in_flight = random_limit(random);
  problem.communicators = static_cast<std::uint32_t>(random.integer(1, 2));
  if (random.integer(0, 2) == 0) {
    problem.max_unit_parameters = random.integer(0, 40);
  }
  return problem;
}

void check_against_all(std::uint64_t seed, std::int64_t most_layers) {
  CAPTURE(seed);
  RandomStream random({.seed = 61, .point = seed});
  const UnitProblem problem = random_problem(random, most_layers);
  const UnitPlan plan = plan_units(problem);
  const UnitPlan expected = brute_force(problem);
  CHECK(plan.certified);
  CHECK(plan.gap() == 0);
  CHECK(plan.period.value == within(expected.period.value, 1e-12));
  CHECK(plan.cuts == expected.cuts);
  CHECK(plan.lower_bound.value <= expected.period.value * (1 + 1e-12));
  CHECK(unit_period(problem, plan.cuts) == plan.period.value);
}

// L 4, f 1, 2, 1, 1, b 2, 4, 2, 2, S 4, 8, 12, 16, a_g = a_r 0.5, b_g 0.1, b_r 0.2.
UnitProblem row_u() {
  UnitProblem problem;
  problem.layers = {{{1}, {2}, 4}, {{2}, {4}, 8}, {{1}, {2}, 12}, {{1}, {2}, 16}};
  problem.gather = linear(0.5, 0.1);
  problem.reduce = linear(0.5, 0.2);
  problem.keep_last = true;
  problem.communicators = 2;
  return problem;
}

// Llama-3.1-8B: embedding, 32 blocks, norm and output (TRN 6).
UnitProblem llama(double rate, double startup, std::uint32_t communicators) {
  constexpr double kForward = 2.8 / 3;
  constexpr double kBlockFlop = 503'316'480;
  constexpr double kOutputFlop = 1'050'673'152;
  constexpr double kAllFlop = 32 * kBlockFlop + kOutputFlop;
  UnitProblem problem;
  const auto add = [&](double flop, std::int64_t parameters) {
    const Seconds forward{kForward * flop / kAllFlop};
    problem.layers.push_back({forward, forward * 2, parameters});
  };
  add(0, 525'336'576);
  for (int block = 0; block < 32; ++block) {
    add(kBlockFlop, 218'112'000);
  }
  add(kOutputFlop, 525'340'672);
  problem.gather = linear(startup, 2 * 15.0 / 16 / rate);
  problem.reduce = linear(startup, 4 * 15.0 / 16 / rate);
  problem.keep_last = true;
  problem.communicators = communicators;
  return problem;
}

Cuts every_layer(const UnitProblem& problem) {
  Cuts cuts;
  for (std::uint32_t c = 1; c < problem.layers.size(); ++c) {
    cuts.push_back(c);
  }
  return cuts;
}

} // namespace

TEST_CASE("sharding units: rows U1 to U3") {
  const auto expect = [](const UnitProblem& problem, double best, double per_layer) {
    const UnitPlan plan = plan_units(problem);
    CHECK(plan.period.value == within(best, 1e-12));
    CHECK(plan.cuts == Cuts{2});
    CHECK(plan.certified);
    CHECK(unit_period(problem, every_layer(problem)) == within(per_layer, 1e-12));
  };
  UnitProblem problem = row_u();
  expect(problem, 20, 20.1);
  CHECK(unit_period(problem, {}) == within(0.5 + 4 + 5 + 10 + 0.5 + 8, 1e-12)); // 28
  problem.communicators = 1;
  expect(problem, 20, 21.4);
  problem = row_u();
  problem.ahead_forward = 0;
  expect(problem, 23, 24.1);
}

TEST_CASE("sharding units: no division of 5,000 small models is better, by the FSDP program") {
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    check_against_all(seed, 7);
  }
}

TEST_CASE("sharding units: no division of some models of up to 12 layers is better") {
  for (std::uint64_t seed = 5000; seed < 5030; ++seed) {
    check_against_all(seed, 12);
  }
}

TEST_CASE("sharding units: Llama-3.1-8B on four links (TRN 6)") {
  struct Row {
    double rate, startup;
    std::uint32_t communicators;
    double per_block, best;
    Cuts cuts;
  };
  Cuts last_two_blocks = every_layer(llama(1, 0, 1)); // the last two blocks are one unit
  std::erase(last_two_blocks, 32U);
  const std::vector<Row> rows{
      {8 * 45e9, 1e-4, 1, 2.812016384, 2.811816384, {2, 4}},
      {8 * 45e9, 1e-4, 2, 2.812016384, 2.811816384, {2, 4}},
      {25e9, 1e-4, 1, 3.025830410, 3.012462909, last_two_blocks},
      {25e9, 1e-4, 2, 2.991815999, 2.978248498, {2, 3, 5, 7, 10, 15, 23}},
      {12.5e9, 1e-3, 1, 4.978109328, 4.837016175, {8, 14, 19, 23, 27, 30, 33}}};
  for (const Row& row : rows) {
    CAPTURE(row.rate);
    CAPTURE(row.communicators);
    const UnitProblem problem = llama(row.rate, row.startup, row.communicators);
    const UnitPlan plan = plan_units(problem);
    CHECK(plan.certified);
    CHECK(plan.period.value == within(row.best, 1e-6));
    // The table names one of several equal divisions; ours has the smallest cuts.
    CHECK(plan.cuts.size() == row.cuts.size());
    CHECK(plan.cuts <= row.cuts);
    CHECK(unit_period(problem, row.cuts) == within(plan.period.value, 1e-12));
    CHECK(unit_period(problem, every_layer(problem)) == within(row.per_block, 1e-6));
    CHECK(period_of_program(problem, plan.cuts) == within(plan.period.value, 1e-12));
  }
}

TEST_CASE("sharding units: ResNet-152 in 52 blocks on 10GbE (TRN 6)") {
  struct Blocks {
    int count;
    double macs;
    std::int64_t parameters;
  };
  const std::vector<Blocks> stages{{1, 118013952, 9536},     {1, 231211008, 75008},
                                   {2, 218365952, 70400},    {1, 372506624, 379392},
                                   {7, 218365952, 280064},   {1, 372506624, 1512448},
                                   {35, 218365952, 1117184}, {1, 372506624, 6039552},
                                   {2, 218365952, 4462592},  {1, 2048000, 2049000}};
  UnitProblem problem;
  for (const Blocks& stage : stages) {
    for (int i = 0; i < stage.count; ++i) {
      const Seconds forward{0.8831 / 3 * stage.macs / 11513626624.0};
      problem.layers.push_back({forward, forward * 2, stage.parameters});
    }
  }
  REQUIRE(problem.layers.size() == 52);
  problem.gather = problem.reduce = linear(7.9e-4 / 2, 4 * 2.13e-9 / 2);
  problem.keep_last = true;
  CHECK(unit_period(problem, {}) == within(1.396732724, 1e-6));
  CHECK(unit_period(problem, every_layer(problem)) == within(1.023652515, 1e-6));
  problem.communicators = 2;
  CHECK(unit_period(problem, every_layer(problem)) == within(0.983630302, 1e-6));
  const UnitPlan plan = plan_units(problem);
  CHECK(plan.certified);
  CHECK(plan.period.value == within(0.883971247, 1e-6));
  CHECK(plan.cuts == Cuts{1, 2, 9, 20, 33, 46});
}

// Layers as an estimate of a model has them: every block in nine parts. Each division into blocks
// is one of these layers, too.
TEST_CASE("sharding units: hundreds of layers cost one question per unit that can be") {
  constexpr std::size_t kParts = 9;
  for (const auto& [rate, startup] : {std::pair{25e9, 1e-4}, std::pair{12.5e9, 1e-3}}) {
    const UnitProblem blocks = llama(rate, startup, 1);
    UnitProblem parts = blocks;
    parts.layers.clear();
    for (const ShardedLayer& block : blocks.layers) {
      for (std::size_t i = 0; i < kParts; ++i) {
        parts.layers.push_back({block.forward / kParts, block.backward / kParts,
                                block.parameters / std::int64_t{kParts}});
      }
    }
    std::size_t asked = 0;
    parts.gather = [&](std::int64_t parameters) {
      ++asked;
      return blocks.gather(parameters);
    };
    const UnitPlan plan = plan_units(parts);
    const std::size_t layers = parts.layers.size();
    CHECK(asked <= layers * (layers + 1) / 2 + layers);
    CHECK(plan.period.value == unit_period(parts, plan.cuts));
    CHECK(plan.lower_bound.value <= plan.period.value);
    CHECK(plan.certified == (plan.gap() == 0));
    // The parameters of a block that are no multiple of its parts are left out: 4e-8 of them.
    CHECK(plan.period.value <= unit_period(blocks, every_layer(blocks)) * (1 + 1e-6));
    CHECK(plan.period.value <= 1.005 * plan_units(blocks).period.value);
  }
}

TEST_CASE(
    "sharding units: beyond the limit of labels the plan is not certified, the gap is known") {
  const UnitProblem problem = llama(12.5e9, 1e-3, 1);
  const UnitPlan best = plan_units(problem);
  const UnitPlan plan = plan_units(problem, 1000);
  CHECK_FALSE(plan.certified);
  CHECK(plan.labels < 2000);
  CHECK(plan.period.value >= best.period.value);
  CHECK(plan.gap() == within(plan.period.value / plan.lower_bound.value - 1, 1e-12));
  CHECK(plan.lower_bound.value <= best.period.value);
  CHECK(plan.lower_bound.value > 0.75 * best.period.value);
}

TEST_CASE("sharding units: all divisions are tried up to 16 layers, local search beyond") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    RandomStream random({.seed = 62, .point = seed});
    const UnitProblem problem = random_problem(random, 8);
    stepsim::programs::FsdpOptions options = options_of(problem);
    options.prefetch = static_cast<stepsim::programs::BackwardPrefetch>(random.integer(0, 2));
    options.micro_batches = static_cast<std::uint32_t>(random.integer(1, 3));
    const PeriodOfCuts period = [&](const Cuts& cuts) {
      return stepsim::programs::recurrence(
                 stepsim::programs::fsdp_program(unit_times(problem, cuts), options), 1)
          .makespan_s;
    };
    const UnitPlan plan = search_units(problem, period, {}, options.micro_batches);
    CHECK(plan.certified);
    CHECK(plan.lower_bound <= plan.period);
    for (const Cuts& cuts : all_cuts(problem.layers.size())) {
      if (fits(problem, cuts)) {
        CHECK(plan.period.value <= period(cuts) * (1 + 1e-12));
        CHECK(unit_lower_bound(problem, options.micro_batches) <= period(cuts) * (1 + 1e-12));
      }
    }
  }
  // Started at the optimum of the problem, the search cannot be worse.
  const UnitProblem large = llama(12.5e9, 1e-3, 1);
  const UnitPlan best = plan_units(large);
  const PeriodOfCuts period = [&](const Cuts& cuts) { return unit_period(large, cuts); };
  const UnitPlan found = search_units(large, period, {best.cuts}, 1);
  CHECK_FALSE(found.certified);
  CHECK(found.period.value == within(best.period.value, 1e-12));
  CHECK(found.lower_bound.value <= best.period.value);
  CHECK(search_units(large, period, {}, 1).period.value < 1.01 * best.period.value);
}

TEST_CASE("sharding units: the largest unit that memory holds") {
  // 2 + 2 gathered units of 2 bytes and 1 + 1 gradients of 4: 16 bytes per parameter of a unit.
  UnitMemory memory{.limit_bytes = 1000,
                    .fixed_bytes = 200,
                    .parameter_bytes = 2,
                    .reduce_bytes = 4,
                    .parameters = 100,
                    .ahead_forward = 2,
                    .reduces_in_flight = 1};
  CHECK(largest_unit(memory) == 50);
  memory.limit_bytes = 1015;
  CHECK(largest_unit(memory) == 50);
  memory.limit_bytes = 1e9;
  CHECK(largest_unit(memory) == 100);
  memory.limit_bytes = 199;
  CHECK_FALSE(largest_unit(memory));
  memory.limit_bytes = 1000;
  memory.reduces_in_flight.reset(); // all gradients: 400 bytes
  CHECK(largest_unit(memory) == (1000 - 200 - 400) / 8);
}

TEST_CASE("sharding units: a layer above the largest unit stands alone") {
  UnitProblem problem = row_u();
  problem.max_unit_parameters = 10;
  CHECK(plan_units(problem).cuts == Cuts{1, 2, 3});
  problem.max_unit_parameters = 12;
  const Cuts cuts = plan_units(problem).cuts; // only layers 1 and 2 may be together
  CHECK((cuts == Cuts{2, 3} || cuts == Cuts{1, 2, 3}));
}
