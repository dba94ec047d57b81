// Expected values of TRN 11.2, 11.4 and 11.7 for sharded training.
#include "programs/builders/fsdp_program.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "programs/layers_g3.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::programs;
using stepsim::base::RandomStream;
using stepsim::testing::within;

namespace {

UnitTimes unit(double f, double b, double a, double r, double x = 0) {
  return {.forward = {f},
          .backward = {b},
          .gather = {.startup = {}, .data = {a}},
          .reduce = {.startup = {}, .data = {r}},
          .replicate = {.startup = {}, .data = {x}}};
}
const std::vector<UnitTimes> kSetA{unit(2, 4, 1, 1), unit(3, 6, 2, 2), unit(4, 8, 3, 3)};
const std::vector<UnitTimes> kSetB{unit(2, 4, 5, 6), unit(3, 6, 6, 8), unit(4, 8, 7, 9)};

FsdpOptions base() { return {.keep_last = true, .communicators = 2}; }

} // namespace

TEST_CASE("fsdp: replicas all-reduce their shards after the last micro-batch (row F17)") {
  const std::vector<UnitTimes> units{unit(2, 4, 1, 1, 5), unit(3, 6, 2, 2, 6), unit(4, 8, 3, 3, 7)};
  FsdpOptions options = base();
  options.hybrid = true;
  CHECK(figures(fsdp_program(units, options)) == PeriodAndExposed{39, 12});
  options.micro_batches = 2;
  CHECK(figures(fsdp_program(units, options)) == PeriodAndExposed{66, 12});
}

TEST_CASE("fsdp: a unit without parameters gathers nothing and waits for nothing") {
  std::vector<UnitTimes> units{unit(3, 1, 0, 0), unit(1, 2, 4, 5)};
  FsdpOptions options = base();
  options.communicators = 1;
  options.prefetch = BackwardPrefetch::none;
  // Its gather of no time would queue behind the reduce-scatter of the other unit.
  CHECK(figures(fsdp_program(units, options)).period == 4 + 1 + 2 + 5 + 1);
  units.front().parameters = false;
  const Program program = fsdp_program(units, options);
  CHECK(figures(program).period == 4 + 1 + 2 + 5);
  CHECK(std::ranges::none_of(program.operations, [](const Operation& each) {
    return each.type == OperationType::exchange && each.unit == 0;
  }));
}

TEST_CASE("fsdp: starts and ends of one iteration (row F19)") {
  const auto spans = [](const std::vector<UnitTimes>& units) {
    const Program program = fsdp_program(units, base());
    const OperationTimes times = recurrence(program, 1, Record::all);
    std::map<std::string, std::pair<double, double>> result;
    for (std::size_t o = 0; o < program.operations.size(); ++o) {
      result[program.operations[o].id] = {times.start[o], times.end[o]};
    }
    return result;
  };
  using Spans = std::map<std::string, std::pair<double, double>>;
  CHECK(spans(kSetA) == Spans{{"GF1_1", {0, 1}},
                              {"GF1_2", {1, 3}},
                              {"GF1_3", {3, 6}},
                              {"F1_1", {1, 3}},
                              {"F1_2", {3, 6}},
                              {"F1_3", {6, 10}},
                              {"B1_3", {10, 18}},
                              {"GB1_2", {10, 12}},
                              {"R1_3", {18, 21}},
                              {"GB1_1", {18, 19}},
                              {"B1_2", {18, 24}},
                              {"R1_2", {24, 26}},
                              {"B1_1", {24, 28}},
                              {"R1_1", {28, 29}},
                              {"U", {29, 29}}});
  CHECK(spans(kSetB) == Spans{{"GF1_1", {0, 5}},
                              {"GF1_2", {5, 11}},
                              {"GF1_3", {11, 18}},
                              {"F1_1", {5, 7}},
                              {"F1_2", {11, 14}},
                              {"F1_3", {18, 22}},
                              {"GB1_2", {22, 28}},
                              {"B1_3", {22, 30}},
                              {"R1_3", {30, 39}},
                              {"GB1_1", {30, 35}},
                              {"B1_2", {30, 36}},
                              {"R1_2", {39, 47}},
                              {"B1_1", {39, 43}},
                              {"R1_1", {47, 53}},
                              {"U", {53, 53}}});
}

TEST_CASE("fsdp: the critical cycle, its shares and derivatives (rows E1, E2)") {
  const Program a = fsdp_program(kSetA, base());
  const SteadyState state = steady_state(a);
  std::vector<std::string> ids;
  for (const std::uint32_t o : state.cycle) {
    ids.push_back(a.operations[o].id);
  }
  CHECK(ids == std::vector<std::string>{"GF1_1", "GF1_2", "GF1_3", "F1_3", "B1_3", "B1_2", "B1_1",
                                        "R1_1", "U"});
  CHECK(state.cycle_iterations == 1);
  CHECK(share(a, state, Kind::allgather) == 6);
  CHECK(share(a, state, Kind::forward) == 4);
  CHECK(share(a, state, Kind::backward) == 18);
  CHECK(share(a, state, Kind::reduce_scatter) == 1);

  const Program b = fsdp_program(kSetB, base());
  const SteadyState slow = steady_state(b);
  CHECK(share(b, slow, Kind::allgather) == 18);
  CHECK(share(b, slow, Kind::forward) == 4);
  CHECK(share(b, slow, Kind::backward) == 8);
  CHECK(share(b, slow, Kind::reduce_scatter) == 23);
  for (const Kind kind : {Kind::allgather, Kind::reduce_scatter}) {
    CHECK(per_second_on(b, slow, kind).left == 3);
    CHECK(per_second_on(b, slow, kind).right == 3);
  }
}

TEST_CASE("fsdp: a gather that is no computation ahead waits for the backward before it") {
  // Set A: GF 1 2 3, F to 10, B3 10-18, GB2 18-20, R3 18-21, B2 20-26, GB1 26-27, R2 26-28,
  // B1 27-31, R1 31-32.
  FsdpOptions options = base();
  options.ahead_backward = 0;
  CHECK(figures(fsdp_program(kSetA, options)) == PeriodAndExposed{32, 5});
  // One stream: R3 20-23, B2 20-26, GB1 26-27, R2 27-29, B1 27-31, R1 31-32.
  options.communicators = 1;
  CHECK(figures(fsdp_program(kSetA, options)) == PeriodAndExposed{32, 5});
}

TEST_CASE("fsdp: interference (TRN 11.2)") {
  CHECK(simulated_period(with_interference(fsdp_program(kSetB, base()), 1.5, 1)) ==
        within(55.0, 1e-9));
  CHECK(simulated_period(with_interference(fsdp_program(kSetA, base()), 1.5, 1.2)) ==
        within(33.8, 1e-9));
}

TEST_CASE("fsdp: more communicators, earlier prefetch, more ahead and a kept unit never hurt") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    RandomStream random({.seed = 52, .point = seed});
    const auto seconds = [&] { return static_cast<double>(random.integer(0, 16)) / 4; };
    std::vector<UnitTimes> units;
    for (std::int64_t u = random.integer(1, 6); u > 0; --u) {
      units.push_back(unit(seconds(), seconds(), seconds(), seconds()));
    }
    FsdpOptions options;
    options.micro_batches = static_cast<std::uint32_t>(random.integer(1, 3));
    options.ahead_forward = static_cast<std::uint32_t>(random.integer(0, 2));
    options.reduces_in_flight = static_cast<std::uint32_t>(random.integer(0, 2));
    options.exchange_each = random.integer(0, 1) == 0;
    options.communicators = static_cast<std::uint32_t>(random.integer(1, 2));
    options.prefetch = static_cast<BackwardPrefetch>(random.integer(0, 2));
    options.keep_last = random.integer(0, 1) == 0;
    const auto period = [&](auto change) {
      FsdpOptions changed = options;
      change(changed);
      return steady_state(fsdp_program(units, changed)).period.value;
    };
    using Options = FsdpOptions&;
    CHECK(period([](Options o) { o.communicators = 2; }) <=
          period([](Options o) { o.communicators = 1; }));
    const double pre = period([](Options o) { o.prefetch = BackwardPrefetch::pre; });
    const double post = period([](Options o) { o.prefetch = BackwardPrefetch::post; });
    CHECK(pre <= post);
    CHECK(post <= period([](Options o) { o.prefetch = BackwardPrefetch::none; }));
    CHECK(period([](Options o) { o.keep_last = true; }) <=
          period([](Options o) { o.keep_last = false; }));
    CHECK(period([](Options o) { ++*o.ahead_forward; }) <= period([](Options) {}));
    CHECK(period([](Options o) { o.ahead_forward.reset(); }) <= period([](Options) {}));
  }
}
