// Expected values of TRN 11.5: training that synchronises every H steps.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "base/random.hpp"
#include "programs/builders/local_sgd_program.hpp"
#include "programs/builders/step_programs.hpp"
#include "programs/layers_g3.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::programs;
using stepsim::Seconds;
using stepsim::base::RandomStream;
using stepsim::testing::within;

namespace {

PeriodAndExposed rounds(double step, std::uint32_t steps, const std::vector<double>& exchanges,
                        double merge, std::uint32_t overlap) {
  std::vector<FragmentTimes> fragments;
  for (const double seconds : exchanges) {
    fragments.push_back({.exchange = {{}, Seconds{seconds}}, .merge = Seconds{merge}});
  }
  return figures(local_sgd_program(Seconds{step}, fragments,
                                   {.local_steps = steps, .overlap_steps = overlap}));
}

} // namespace

TEST_CASE(
    "local steps: fragment p of P is sent after step floor(p H / P), merged tau steps later") {
  const Program program = local_sgd_program(Seconds{1}, std::vector<FragmentTimes>(4),
                                            {.local_steps = 10, .overlap_steps = 2});
  std::vector<std::int32_t> sent;
  std::vector<std::int32_t> merged; // in list order, the tail last
  for (const Operation& operation : program.operations) {
    if (operation.kind == Kind::allreduce) {
      sent.push_back(operation.step + 1);
    } else if (operation.kind == Kind::outer_update) {
      merged.push_back(operation.step + 1);
    }
  }
  CHECK(sent == std::vector<std::int32_t>{10 / 4, 20 / 4, 30 / 4, 40 / 4});
  // Before step s + tau + 1: fragment 4 in the next round.
  CHECK(merged == std::vector<std::int32_t>{10 + 3 - 10, 2 + 3, 5 + 3, 7 + 3, 1});
}

TEST_CASE("local steps: closed forms, and more overlap never hurts") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    RandomStream random({.seed = 53, .point = seed});
    const auto quarters = [&](std::int64_t most) {
      return static_cast<double>(random.integer(0, most)) / 4;
    };
    const auto steps = static_cast<std::uint32_t>(random.integer(2, 6));
    const double c = quarters(16);
    const double t = quarters(80);
    const double merge = quarters(8);
    const double all = steps * c;
    double before = all + t + merge;
    CHECK(rounds(c, steps, {t}, merge, 0).period == before);
    for (std::uint32_t tau = 1; tau < steps; ++tau) {
      const double period = rounds(c, steps, {t}, merge, tau).period;
      CHECK(period == std::max({all + merge, all - tau * c + t + merge, t}));
      CHECK(period <= before);
      before = period;
    }
  }
}

TEST_CASE("local steps: encoding stands before an exchange, decoding before its merge") {
  // One round of two steps of 1 s without overlap: encode 0.5, exchange 3, decode 0.25, merge 0.25.
  const FragmentTimes all{.exchange = {{}, Seconds{3}},
                          .merge = Seconds{0.25},
                          .encode = Seconds{0.5},
                          .decode = Seconds{0.25}};
  CHECK(figures(local_sgd_program(Seconds{1}, {all}, {.local_steps = 2})) ==
        PeriodAndExposed{2 + 0.5 + 3 + 0.25 + 0.25, 3});
  // The same with layers: a message of each, the second hidden behind the forward of the first.
  const FragmentTimes each{.exchange = {{}, Seconds{1}},
                           .merge = Seconds{0.25},
                           .encode = Seconds{0.5},
                           .decode = Seconds{0.25}};
  const LayeredRound layered{.layers = {{Seconds{1}, Seconds{2}, 1}, {Seconds{1}, Seconds{2}, 1}},
                             .fragments = {{0, 1}},
                             .gate = OuterGate::layer,
                             .outer = {each, each}};
  CHECK(figures(layered_round_program(layered, {.local_steps = 1})) ==
        PeriodAndExposed{2 + 4 + 2 * (0.5 + 0.25 + 0.25) + 1, 1});
}

TEST_CASE("local steps: an update after each backward, or before the next forward of an island") {
  const LayeredRound alone{.layers = g3_layers(),
                           .fragments = {{0, 1, 2, 3}},
                           .outer = {{.exchange = {{}, Seconds{10.5}}, .merge = {}}},
                           .update = Seconds{2}};
  // As one operation a step.
  CHECK(figures(layered_round_program(alone, {.local_steps = 3})) ==
        rounds(13 + 2, 3, {10.5}, 0, 0));
  // Outer exchanges of no time: the steps of synchronous training.
  for (const NextForward next : {NextForward::per_layer, NextForward::barrier}) {
    LayeredRound island = alone;
    island.outer[0].exchange = {};
    island.buckets = g3_per_layer();
    island.next_forward = next;
    const PeriodAndExposed step = figures(sync_sgd_program(
        g3_layers(), g3_per_layer(), {.update = Seconds{2}, .next_forward = next}));
    // The merge of no time holds up the round until everything has arrived.
    const PeriodAndExposed barrier = figures(sync_sgd_program(
        g3_layers(), g3_per_layer(), {.update = Seconds{2}, .next_forward = NextForward::barrier}));
    CHECK(figures(layered_round_program(island, {.local_steps = 3})).period ==
          within(2 * step.period + barrier.period, 1e-12));
  }
}

TEST_CASE("local steps: fragments and layer gates in an island") {
  // Exchanges inside the island of no time: as without one.
  LayeredRound round{.layers = g3_layers(),
                     .fragments = {{0, 2}, {1, 3}},
                     .outer = std::vector<FragmentTimes>(2, {{{}, Seconds{3}}, Seconds{0.5}})};
  for (const OuterGate gate : {OuterGate::step, OuterGate::layer}) {
    round.gate = gate;
    round.outer.resize(gate == OuterGate::step ? 2 : 4, round.outer[0]);
    for (const std::uint32_t overlap : {0U, 1U, 3U}) {
      const RoundOptions options{.local_steps = 4, .overlap_steps = overlap};
      round.buckets = {};
      const PeriodAndExposed alone = figures(layered_round_program(round, options));
      round.buckets = g3_per_layer(0);
      CHECK(figures(layered_round_program(round, options)) == alone);
    }
  }
}

TEST_CASE("local steps: the run ends with the merges that are still to come") {
  const Program program = local_sgd_program(
      Seconds{1}, {{.exchange = {{}, Seconds{5}}, .merge = Seconds{0.5}}}, {.local_steps = 2});
  // A merge of nothing, two steps, an exchange; merge, two steps, an exchange, merge.
  CHECK(recurrence(program, 2).makespan_s == 2 * (0.5 + 2 + 5) + 0.5);
}
