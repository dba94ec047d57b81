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

TEST_CASE("sync_sgd: accumulation adds a forward and a backward per micro-batch (rows S1, S2)") {
  for (const std::uint32_t m : {1U, 2U, 4U}) {
    CAPTURE(m);
    const double more = (m - 1) * 13.0;
    CHECK(figures(g3_sync(g3_per_layer(), {.micro_batches = m})) == PeriodAndExposed{19 + more, 6});
    CHECK(figures(g3_sync(g3_per_layer(), {.micro_batches = m, .exchange_each = true})) ==
          PeriodAndExposed{19 + more, 6});
    CHECK(figures(g3_sync(g3_single(), {.micro_batches = m})) ==
          PeriodAndExposed{23.5 + more, 10.5});
  }
}

TEST_CASE("sync_sgd: exchanges in every micro-batch pile up when they are slow (row S3)") {
  const std::vector<double> last{43, 56, 69};
  const std::vector<double> each{43, 79, 115};
  const std::vector<double> exposed_each{30, 53, 76};
  for (std::uint32_t m = 1; m <= 3; ++m) {
    CHECK(figures(g3_sync(g3_per_layer(3), {.micro_batches = m})) ==
          PeriodAndExposed{last[m - 1], 30});
    CHECK(figures(g3_sync(g3_per_layer(3), {.micro_batches = m, .exchange_each = true})) ==
          PeriodAndExposed{each[m - 1], exposed_each[m - 1]});
  }
}

TEST_CASE("sync_sgd: an update per layer or behind a barrier (row S4)") {
  CHECK(figures(g3_sync(g3_per_layer(), {.update = Seconds{4}})) == PeriodAndExposed{23, 6});
  CHECK(figures(g3_sync(g3_per_layer(),
                        {.update = Seconds{4}, .next_forward = NextForward::barrier})) ==
        PeriodAndExposed{23, 6});
}

TEST_CASE("sync_sgd: a run lasts forward + (K - 1) periods + finish + one update") {
  const double update = 4;
  const double finish = 2 + 12; // backward of layer 4, then all messages
  const double first_forward = 5 + update;
  CHECK(recurrence(g3_sync(g3_per_layer(), {.update = Seconds{update}}), 3).makespan_s ==
        first_forward + 2 * 23 + finish + update);
}

TEST_CASE("reduce_broadcast and dear: exchanges in two halves (rows S5, S6)") {
  CHECK(figures(reduce_broadcast_program(g3_layers(), g3_per_layer(0.5), Seconds{1})) ==
        PeriodAndExposed{16.75, 2.75});
  const auto dear = [](const std::vector<BucketTimes>& buckets, GatherPrefetch prefetch) {
    return figures(dear_program(g3_layers(), buckets, {.update = {}, .prefetch = prefetch})).period;
  };
  CHECK(dear(g3_per_layer(0.5), GatherPrefetch::all) == 15.75);
  CHECK(dear(g3_per_layer(0.5), GatherPrefetch::one) == 16.0);
  CHECK(dear(g3_buckets({{3, 2}, {1, 0}}, 0.5), GatherPrefetch::all) == 17.25);
  CHECK(dear(g3_single(0.5), GatherPrefetch::all) == 23.5);
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

TEST_CASE("zero: reduce-scatters, update, all-gathers (rows Z1 to Z7)") {
  CHECK(figures(g3_zero({.stage = 1})) == PeriodAndExposed{19.75, 6.75});
  CHECK(figures(g3_zero({.stage = 2})) == PeriodAndExposed{19.75, 6.75});
  CHECK(figures(g3_zero({.stage = 1, .micro_batches = 3})) == PeriodAndExposed{45.75, 6.75});
  CHECK(figures(g3_zero({.stage = 2, .micro_batches = 3})) == PeriodAndExposed{45.75, 6.75});
  CHECK(figures(g3_zero({.stage = 2, .gather = NextForward::per_layer})) ==
        PeriodAndExposed{15.75, 2.75});
  CHECK(figures(g3_zero({.micro_batches = 2, .update = Seconds{8}, .shards = 8})) ==
        PeriodAndExposed{33.75, 6.75});
  // Gathers that take no time and reduce-scatters that take T are synchronous training.
  std::vector<BucketTimes> buckets = g3_per_layer();
  for (BucketTimes& bucket : buckets) {
    bucket.gather = {};
  }
  const PeriodAndExposed zero =
      figures(zero_program(g3_layers(), buckets, {.stage = 2, .update = Seconds{2}}));
  CHECK(zero == PeriodAndExposed{21, 6});
  CHECK(zero == figures(g3_sync(g3_per_layer(),
                                {.update = Seconds{2}, .next_forward = NextForward::barrier})));
}

TEST_CASE("pipe_sgd: the period is max(c, m, (c + m) / K) (row P5)") {
  const auto period = [](double c, double m, std::int32_t width) {
    return figures(pipeline(0.25 * c, {{0.75 * c, m}}, width)).period;
  };
  CHECK(period(100, 60, 1) == 160);
  CHECK(period(100, 60, 2) == 100);
  CHECK(period(60, 100, 2) == 100);
  CHECK(period(60, 100, 3) == 100);
}

TEST_CASE("pipe_sgd: after synchronous iterations the pipeline fills") {
  // c = 100 s, m = 60 s: an iteration lasts 160 s at first, and then no longer than it computes.
  const std::vector<LayerTimes> layers{{.forward = Seconds{25}, .backward = Seconds{75}}};
  const Program made = pipe_sgd_program(
      layers, {{.layers = {0}, .reduce = {.startup = {}, .data = {60}}, .gather = {}}},
      {.width = 2, .synchronous_first = 3});
  CHECK(recurrence(made, 6).marker_end == std::vector<double>{160, 320, 480, 580, 680, 780});
  CHECK(steady_state(made).period.value == 100);
}

TEST_CASE("input: read between updates, or after forward (MER 7)") {
  const auto step = [](NextForward next, double input, bool pipelined) {
    const Program made = g3_sync(g3_per_layer(), {.update = Seconds{2}, .next_forward = next});
    return figures(with_input(made, Seconds{input}, pipelined)).period;
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
    return figures(with_input(made, Seconds{input}, pipelined)).period;
  };
  CHECK(zero(20, true) == within(40 + 1, 1e-12));
  CHECK(zero(10, true) == 33.75); // row Z6
  CHECK(zero(10, false) == 33.75 + 20);
  const PeriodAndExposed dear =
      figures(with_input(dear_program(g3_layers(), g3_per_layer(0.5), {}), Seconds{50}, true));
  CHECK(dear.period == 50);
}

TEST_CASE("od_sgd: the period is max(c, m), c with two updates, and the delay is 1") {
  const std::vector<LayerTimes> layers{{.forward = Seconds{3}, .backward = Seconds{5}}};
  const auto made = [&](double m, double update) {
    return od_sgd_program(layers,
                          {{.layers = {0}, .reduce = {.startup = {}, .data = {m}}, .gather = {}}},
                          Seconds{update}, Seconds{update});
  };
  for (const double update : {0.0, 1.0}) {
    for (const double m : {0.0, 4.0, 9.0, 25.0}) {
      const double c = 8 + 2 * update;
      CHECK(figures(made(m, update)).period == within(std::max(c, m), 1e-12));
    }
  }
  CHECK(staleness_histogram(made(4, 1), 10) == std::vector<std::int64_t>{0, 9});
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
