// Expected values of TRN 11.2 and 11.3: synchronous training, accumulation, ZeRO 1 and 2.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "programs/builders/step_parts.hpp"
#include "programs/builders/step_programs.hpp"
#include "programs/layers_g3.hpp"
#include "programs/staleness_histogram.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::programs;
using stepsim::Seconds;
using stepsim::testing::within;

namespace {

Program g3_sync(const std::vector<BucketTimes>& buckets, const SyncSgdOptions& options = {}) {
  return sync_sgd_program(g3_layers(), buckets, options);
}

Program g3_zero(const ZeroOptions& options) {
  return zero_program(g3_layers(), g3_per_layer(0.5), options);
}

} // namespace

TEST_CASE("sync_sgd: a run lasts forward + (K - 1) periods + finish + one update") {
  const double update = 4;
  const double finish = 2 + 12; // backward of layer 4, then all messages
  const double first_forward = 5 + update;
  CHECK(recurrence(g3_sync(g3_per_layer(), {.update = Seconds{update}}), 3).makespan_s ==
        first_forward + 2 * 23 + finish + update);
}

namespace {

// Three layers of 10 s forward and 20 s backward, and an exchange of each, the last layer first;
// `seconds` in forward order.
const std::vector<LayerTimes> kThreeLayers(3, {.forward = Seconds{10}, .backward = Seconds{20}});

std::vector<BucketTimes> one_by_one(const std::vector<double>& seconds, bool overlaps) {
  std::vector<BucketTimes> buckets;
  for (std::uint32_t l = 3; l-- > 0;) {
    const ExchangeTime time{.startup = {}, .data = {seconds[l]}};
    buckets.push_back(
        {.layers = {l}, .reduce = time, .gather = time, .ready_after = overlaps ? l : 0});
  }
  return buckets;
}

} // namespace

TEST_CASE("exchanges hide behind the rest of backward (COL K)") {
  const auto sync = [](bool overlaps) {
    return figures(sync_sgd_program(kThreeLayers, one_by_one({5, 15, 30}, overlaps))).period;
  };
  CHECK(sync(true) == 30 + 70); // ends at 20 + 30, then 65, then 70
  CHECK(sync(false) == 30 + 60 + 50);
  const auto rooted = [](bool overlaps, double update) {
    return figures(reduce_broadcast_program(
                       kThreeLayers, one_by_one({3, 8, 15}, overlaps), Seconds{update},
                       overlaps ? NextForward::per_layer : NextForward::barrier))
        .period;
  };
  // Forward ends at 30, reduces at 65, 78, 93, broadcasts of layers 1, 2, 3 at 96, 104, 119.
  CHECK(rooted(true, 0) == 119 + 10 - 30);
  CHECK(rooted(true, 2) == 119 + 10 - 30 + 2);
  CHECK(rooted(false, 0) == 30 + 60 + 2 * (3 + 8 + 15));
  CHECK(rooted(false, 2) == 30 + 60 + 2 * (3 + 8 + 15) + 2);
}

TEST_CASE("dear updates a layer after its all-gather, reduce_broadcast all before the broadcasts") {
  const auto dear = [](GatherPrefetch prefetch) { // 0.4, 0.8, 1.2 and 1.6 s of update, by bytes
    return figures(dear_program(g3_layers(), g3_per_layer(0.5),
                                {.update = Seconds{4}, .prefetch = prefetch}))
        .period;
  };
  // Layer 1 from 9.5 + 0.4 to 10.9, layer 2 from 11.7 to 13.7, 3 from 14.9 to 15.9, 4 to 18.5.
  CHECK(dear(GatherPrefetch::all) == within(18.5, 1e-12));
  // One ahead: the third all-gather starts when layer 2 is reached, with layer 1 and its update
  // done (10.9), the fourth at layer 3 (13.7), to 15.95; layer 4 then takes 1.6 + 1.
  CHECK(dear(GatherPrefetch::one) == within(15.95 + 2.6, 1e-12));
  // Reduces end at 8.75, update to 12.75, broadcasts to 13.5, 14.75, 16.5, 18.75.
  CHECK(figures(reduce_broadcast_program(g3_layers(), g3_per_layer(0.5), Seconds{4})).period ==
        18.75 + 1);
}

TEST_CASE("input: read between updates, or after forward (MER 7)") {
  const auto step = [](NextForward next, double input, bool pipelined) {
    const Program made = g3_sync(g3_per_layer(), {.update = Seconds{2}, .next_forward = next});
    return figures(with_pauses(made, {.input = Seconds{input}, .pipelined = pipelined})).period;
  };
  for (const NextForward next : {NextForward::per_layer, NextForward::barrier}) {
    const double busy = step(next, 0, true) - 2;
    for (const double input : {0.0, 7.0, 17.0, 40.0}) {
      CHECK(step(next, input, true) == within(std::max(busy, input) + 2, 1e-12));
      CHECK(step(next, input, false) == within(input + busy + 2, 1e-12));
    }
  }
  // Every micro-batch has a batch of its own; a shard of the optimizer updates in a second.
  const auto zero = [](double input, bool pipelined) {
    const Program made = g3_zero({.micro_batches = 2, .update = Seconds{8}, .shards = 8});
    return figures(with_pauses(made, {.input = Seconds{input}, .pipelined = pipelined})).period;
  };
  CHECK(zero(20, true) == within(40 + 1, 1e-12));
  CHECK(zero(10, true) == 33.75); // row Z6
  CHECK(zero(10, false) == 33.75 + 20);
  const PeriodAndExposed dear = figures(
      with_pauses(dear_program(g3_layers(), g3_per_layer(0.5), {}), {.input = Seconds{50}}));
  CHECK(dear.period == 50);
}

TEST_CASE("wait: once before the first backward of an iteration, beside reading or without") {
  const auto step = [](const Program& made, const Pauses& pauses) {
    return figures(with_pauses(made, pauses)).period;
  };
  const Program sync = g3_sync(g3_per_layer(), {.update = Seconds{2}});
  const Program zero = g3_zero({.micro_batches = 2, .update = Seconds{8}, .shards = 8});
  for (const Program* made : {&sync, &zero}) {
    const double busy = step(*made, {});
    CHECK(step(*made, {.wait = Seconds{3}}) == within(busy + 3, 1e-12));
    CHECK(step(*made, {.input = Seconds{100}, .wait = Seconds{3}}) ==
          within(step(*made, {.input = Seconds{100}}), 1e-12)); // reading goes on meanwhile
    CHECK(step(*made, {.input = Seconds{5}, .pipelined = false, .wait = Seconds{3}}) ==
          within(step(*made, {.input = Seconds{5}, .pipelined = false}) + 3, 1e-12));
  }
}

TEST_CASE("critical cycle: attribution and derivatives of synchronous steps (rows E4, E5)") {
  const Program wfbp = g3_sync(g3_per_layer());
  const SteadyState state = steady_state(wfbp);
  CHECK(share(wfbp, state, Kind::forward) == 5);
  CHECK(share(wfbp, state, Kind::backward) == 2);
  CHECK(share(wfbp, state, Kind::allreduce) == 12);
  CHECK(state.cycle_iterations == 1);
  const Derivative latency = per_second_on(wfbp, state, Kind::allreduce);
  CHECK(latency.left == 4);
  CHECK(latency.right == 4);
  std::vector<double> bytes;
  for (const Operation& operation : wfbp.operations) {
    bytes.push_back(operation.data.value / 0.25);
  }
  bytes.resize(wfbp.iteration_size());
  CHECK(derivative(state, bytes).left == 40);
  CHECK(derivative(state, bytes).right == 40);

  const Program dear = dear_program(g3_layers(), g3_per_layer(0.5), {});
  const SteadyState halves = steady_state(dear);
  CHECK(share(dear, halves, Kind::allgather) == 6);
  CHECK(share(dear, halves, Kind::forward) == 1);
  CHECK(share(dear, halves, Kind::backward) == 8);
  CHECK(share(dear, halves, Kind::reduce_scatter) == 0.75);
}

TEST_CASE("interference: synchronous steps (rows I6 to I11)") {
  // All of T stretched: no start-up.
  const auto wholly = [](std::vector<BucketTimes> buckets) {
    for (BucketTimes& bucket : buckets) {
      bucket.reduce = {.startup = {}, .data = bucket.reduce.startup + bucket.reduce.data};
    }
    return g3_sync(buckets);
  };
  const auto period = [&](const Program& program, double compute, double exchange) {
    return simulated_period(with_interference(program, compute, exchange));
  };
  const Program wfbp = wholly(g3_per_layer());
  const Program single = wholly(g3_single());
  CHECK(period(wfbp, 2, 1) == within(19.75, 1e-9));
  CHECK(period(single, 2, 1) == within(23.5, 1e-9));
  CHECK(period(wfbp, 1.5, 1) == within(19.0, 1e-9));
  CHECK(period(single, 1.5, 1) == within(23.5, 1e-9));
  CHECK(period(wfbp, 2, 1.5) == within(23.0, 1e-9));
  CHECK(period(single, 2, 1.5) == within(23.5, 1e-9));
  Program backward = wfbp;
  backward.interference.compute[static_cast<std::size_t>(Kind::backward)] = 2;
  CHECK(simulated_period(backward) == within(19.75, 1e-9));
  CHECK(period(g3_sync(g3_per_layer()), 1.5, 2) == within(23.0, 1e-9));
}
