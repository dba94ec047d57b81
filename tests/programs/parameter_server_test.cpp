#include "programs/step/parameter_server.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/random.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/method.hpp"
#include "programs/factors.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::layers;
using namespace stepsim::programs;
using base::RandomStream;
using stepsim::testing::within;

namespace {

constexpr double kAlexNet = 243860896; // bytes

// N4: alpha 50 us, 1.25 GB/s, gamma 1e-10 s/B.
ServerLink alexnet_link() {
  return {.latency_s = 50e-6,
          .push_s = kAlexNet / 1.25e9,
          .pull_s = kAlexNet / 1.25e9,
          .add_s = kAlexNet * 1e-10};
}

AsyncInput alexnet(std::uint32_t workers, std::int64_t iterations) {
  return {.workers = workers,
          .iterations = iterations,
          .compute_s = 0.2,
          .link = alexnet_link(),
          .variability = {}};
}

// N4 with `bytes` per exchange.
collectives::Collective exchange(std::uint32_t ranks, double bytes) {
  collectives::Collective collective;
  collective.op = collectives::Op::allreduce;
  collective.algorithm = collectives::AlgorithmId::parameter_server;
  collective.ranks = ranks;
  collective.bytes = bytes;
  collective.links.all = {.latency_s = 50e-6, .block_latency_s = 50e-6, .per_byte_s = 1 / 1.25e9};
  collective.reduction_s_per_byte = 1e-10;
  collective.options.chunking = collectives::Chunking::real;
  return collective;
}

} // namespace

TEST_CASE("parameter server: pushes queue in the order in which workers get ready") {
  const ServerLink link{.latency_s = 1, .push_s = 10, .pull_s = 10, .add_s = 2};
  // Ready 0, 5, 40: pushes end at 11, 21 and 51; then 3 x 2 of adding, 1 + 3 x 10 of pulling.
  CHECK(server_round_end({40, 0, 5}, link, false) == 51 + 6 + 31);
  // Colocated: worker 0 pushes nothing. Ready 0 | 5, 40: pushes end at 16, 51.
  CHECK(server_round_end({0, 40, 5}, link, true) == 51 + 4 + 21);
  // The sum waits for the local worker.
  CHECK(server_round_end({70, 40, 5}, link, true) == 70 + 4 + 21);
}

TEST_CASE(
    "parameter server: a round agrees with the collective's max_plus for random ready times") {
  RandomStream random({.seed = 41});
  for (int trial = 0; trial < 100; ++trial) {
    CAPTURE(trial);
    collectives::Collective collective =
        exchange(static_cast<std::uint32_t>(random.integer(2, 9)), 1e6);
    collective.options.placement =
        trial % 2 == 0 ? collectives::Placement::dedicated : collectives::Placement::colocated;
    for (std::uint32_t w = 0; w < collective.ranks; ++w) {
      collective.enter_s.push_back(random.uniform(0, 0.004));
    }
    const ServerLink link{.latency_s = 50e-6, .push_s = 8e-4, .pull_s = 8e-4, .add_s = 1e-4};
    CHECK(server_round_end(collective.enter_s, link, trial % 2 == 1) ==
          within(collectives::max_plus(collective).seconds, 1e-9));
  }
}

TEST_CASE("async server: equal workers have staleness 0, 1, .., p - 1 and then p - 1 for ever") {
  for (const std::uint32_t workers : {1U, 2U, 3U, 4U, 8U}) {
    CAPTURE(workers);
    for (const bool serial : {false, true}) {
      AsyncInput input = alexnet(workers, 50);
      input.serial = serial;
      const AsyncTimes times = run_async(input);
      const std::int64_t last = workers - 1;
      for (std::size_t i = 0; i < times.updates.size(); ++i) {
        CHECK(times.updates[i].staleness == std::min(static_cast<std::int64_t>(i), last));
        CHECK(times.updates[i].worker == i % workers); // ties at the start go by worker
      }
      CHECK(times.staleness.max() == last);
    }
  }
}

TEST_CASE("async server: the recurrence by hand for two workers") {
  // c 10 and 14, alpha 1, push 5, add 2, pull 5.
  AsyncInput input{.workers = 2,
                   .iterations = 2,
                   .compute_s = 10,
                   .link = {.latency_s = 1, .push_s = 5, .pull_s = 5, .add_s = 2},
                   .variability = {.stragglers = {{1, 1.4}}}};
  AsyncTimes times = run_async(input);
  REQUIRE(times.updates.size() == 4);
  CHECK(times.updates[0].worker == 0);
  CHECK(times.updates[0].arrive_s == 11);
  CHECK(times.updates[0].applied_s == 11 + 5 + 2);
  CHECK(times.updates[0].received_s == 18 + 1 + 5);
  CHECK(times.updates[1].worker == 1);
  CHECK(times.updates[1].arrive_s == 15);
  CHECK(times.updates[1].applied_s == 16 + 5 + 2);      // waits for the inbound port until 16
  CHECK(times.updates[1].received_s == 23 + 1 + 5);     // the outbound port is free at 24
  CHECK(times.updates[2].arrive_s == 24 + 10 + 1);      // worker 0 again
  CHECK(times.updates[3].arrive_s == 29 + 14 + 1);      // worker 1: 44, not before 40
  CHECK(times.updates[3].received_s == 44 + 5 + 2 + 6); // nothing in its way
  CHECK(times.makespan_s == 57);
  CHECK(times.workers[1].compute_s == within(14, 1e-12));
  CHECK(times.workers[1].wait_s == within(57 - 29 - 14, 1e-12));
  input.serial = true; // one station of 5 + 2 + 5: starts at 11, 23, ..
  times = run_async(input);
  CHECK(times.updates[0].applied_s == 11 + 7);
  CHECK(times.updates[0].received_s == 11 + 12 + 1);
  CHECK(times.updates[1].applied_s == 23 + 7);
  CHECK(times.updates[1].received_s == 23 + 12 + 1);
}

TEST_CASE("async server: the period of equal workers is the formula, measured within 0.2 %") {
  RandomStream random({.seed = 43});
  for (int trial = 0; trial < 60; ++trial) {
    CAPTURE(trial);
    const AsyncInput input{.workers = static_cast<std::uint32_t>(random.integer(1, 16)),
                           .iterations = 400,
                           .compute_s = random.uniform(0, 2),
                           .link = {.latency_s = random.uniform(0, 0.1),
                                    .push_s = random.uniform(0.01, 1),
                                    .pull_s = random.uniform(0.01, 1),
                                    .add_s = random.uniform(0, 0.5)},
                           .servers = static_cast<std::uint32_t>(random.integer(1, 4)),
                           .serial = random.integer(0, 1) == 1,
                           .variability = {}};
    const AsyncTimes times = run_async(input);
    CHECK(times.period_s == within(async_period(input), 2e-3));
    CHECK(times.updates.size() == 400 * input.workers);
    CHECK(times.staleness.count() == 400 * static_cast<std::int64_t>(input.workers));
  }
}

TEST_CASE("async server: events are consistent for random speeds and servers") {
  RandomStream random({.seed = 53});
  for (int trial = 0; trial < 40; ++trial) {
    CAPTURE(trial);
    const AsyncInput input{.workers = static_cast<std::uint32_t>(random.integer(1, 8)),
                           .iterations = 30,
                           .compute_s = 1,
                           .link = {.latency_s = 0.01, .push_s = 0.3, .pull_s = 0.2, .add_s = 0.1},
                           .servers = static_cast<std::uint32_t>(random.integer(1, 3)),
                           .serial = random.integer(0, 1) == 1,
                           .variability = {.compute_cv = 0.7, .seed = 77}};
    const AsyncTimes times = run_async(input);
    std::vector<std::int64_t> read(input.workers, 0), iteration(input.workers, 0);
    std::vector<double> back(input.workers, 0);
    for (std::size_t i = 0; i < times.updates.size(); ++i) {
      const AsyncUpdate& update = times.updates[i];
      const std::uint32_t w = update.worker;
      // Computing starts when the weights are back; the drawn factor is that of the pair.
      CHECK(update.arrive_s ==
            within(back[w] + compute_factor(input.variability, w, ++iteration[w]) + 0.01, 1e-12));
      CHECK(update.staleness == static_cast<std::int64_t>(i) - read[w]);
      CHECK(update.applied_s >= update.arrive_s + 0.3 + 0.1 / input.servers - 1e-12);
      CHECK(update.received_s >= update.applied_s + 0.01 + 0.2 - 1e-12);
      if (i > 0) {
        CHECK(update.arrive_s >= (1 - 1e-11) * times.updates[i - 1].arrive_s);
        CHECK(update.applied_s >= times.updates[i - 1].applied_s);
      }
      read[w] = static_cast<std::int64_t>(i) + 1;
      back[w] = update.received_s;
    }
    CHECK(times.makespan_s == *std::max_element(back.begin(), back.end()));
    const AsyncTimes again = run_async(input);
    CHECK(again.makespan_s == times.makespan_s);
  }
}

// The recurrence of PIP 3.3 with the wait of TRN 4.7 in whole milliseconds, which have no rounding.
TEST_CASE("async server: pushes that arrive together come in the order of workers") {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    RandomStream random({.seed = 61, .point = seed});
    const std::int64_t compute = random.integer(1, 6) * 10, latency = random.integer(0, 3) * 5;
    const std::int64_t message = random.integer(1, 10), add = random.integer(0, 2);
    AsyncInput input{.workers = static_cast<std::uint32_t>(random.integer(2, 8)),
                     .iterations = 20,
                     .compute_s = 1e-3 * static_cast<double>(compute),
                     .link = {.latency_s = 1e-3 * static_cast<double>(latency),
                              .push_s = 1e-3 * static_cast<double>(message),
                              .pull_s = 1e-3 * static_cast<double>(message),
                              .add_s = 1e-3 * static_cast<double>(add)},
                     .variability = {}};
    if (random.integer(0, 2) > 0) {
      input.staleness_bound = random.integer(0, 3);
    }
    struct Client {
      std::int64_t compute, arrive, received = 0, iterations = 0;
      bool held = false;
    };
    std::vector<Client> clients;
    for (std::uint32_t w = 0; w < input.workers; ++w) {
      const std::int64_t percent = random.integer(0, 2) == 0 ? 10 * random.integer(11, 20) : 100;
      clients.push_back({.compute = compute * percent / 100, .arrive = 0});
      clients.back().arrive = clients.back().compute + latency;
      if (percent > 100) {
        input.variability.stragglers.push_back(
            {.worker = w, .factor = 1e-2 * static_cast<double>(percent)});
      }
    }
    std::int64_t in = 0, added = 0, out = 0;
    const auto least = [&] {
      return std::ranges::min_element(clients, {}, &Client::iterations)->iterations;
    };
    const auto start = [&](Client& each) {
      each.held = input.staleness_bound && each.iterations - *input.staleness_bound > least();
      each.arrive = std::max(each.received, added) + each.compute + latency;
    };
    for (const AsyncUpdate& update : run_async(input).updates) {
      Client* next = nullptr;
      for (Client& each : clients) {
        if (!each.held && (next == nullptr || each.arrive < next->arrive)) {
          next = &each;
        }
      }
      REQUIRE(update.worker == static_cast<std::uint32_t>(next - clients.data()));
      CHECK(1e3 * update.arrive_s == within(static_cast<double>(next->arrive), 1e-9));
      in = std::max(in, next->arrive) + message;
      added = std::max(in, added) + add;
      out = std::max(added + latency, out) + message;
      next->received = out;
      ++next->iterations;
      for (Client& each : clients) {
        if (each.held) {
          start(each);
        }
      }
      start(*next);
    }
  }
}

TEST_CASE("stale synchronous: rows V1 to V3") {
  // Four workers of 1, 1, 1 and 2 s, a push of 0.25 s, so many servers that pushes never queue.
  const auto ends = [](std::optional<std::int64_t> bound) {
    AsyncInput input{.workers = 4,
                     .iterations = 20,
                     .compute_s = 1,
                     .link = {.latency_s = 0, .push_s = 0.25, .pull_s = 0, .add_s = 0},
                     .servers = 1U << 31,
                     .staleness_bound = bound};
    input.variability.stragglers = {{.worker = 3, .factor = 2}};
    std::vector<std::vector<double>> applied(4);
    for (const AsyncUpdate& update : run_async(input).updates) {
      applied[update.worker].push_back(update.applied_s);
    }
    std::vector<double> result;
    for (const std::size_t iteration : {2U, 5U}) {
      for (const std::size_t worker : {0U, 1U, 2U, 3U}) {
        result.push_back(std::round(applied[worker][iteration] * 1e6) / 1e6);
      }
    }
    return result;
  };
  using Ends = std::vector<double>;
  CHECK(ends(0) == Ends{5.75, 5.75, 5.75, 6.75, 12.5, 12.5, 12.5, 13.5});
  CHECK(ends(1) == Ends{3.75, 3.75, 3.75, 6.75, 10.25, 10.25, 10.25, 13.5});
  CHECK(ends(3) == Ends{3.75, 3.75, 3.75, 6.75, 7.5, 7.5, 7.5, 13.5});
}

TEST_CASE(
    "stale synchronous: nobody is more than s + 1 iterations ahead; s large is asynchronous") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    RandomStream random({.seed = 59, .point = seed});
    AsyncInput input{.workers = static_cast<std::uint32_t>(random.integer(1, 6)),
                     .iterations = random.integer(1, 30),
                     .compute_s = 1,
                     .link = {.latency_s = random.uniform(0, 0.2),
                              .push_s = random.uniform(0, 0.5),
                              .pull_s = random.uniform(0, 0.5),
                              .add_s = random.uniform(0, 0.1)},
                     .servers = static_cast<std::uint32_t>(random.integer(1, 4)),
                     .serial = random.integer(0, 1) == 1,
                     .variability = {.compute_cv = 0.5, .seed = seed}};
    const AsyncTimes free = run_async(input);
    input.staleness_bound = 1000;
    const AsyncTimes loose = run_async(input);
    REQUIRE(loose.updates.size() == free.updates.size());
    CHECK(loose.period_s == free.period_s);
    CHECK(loose.staleness.histogram() == free.staleness.histogram());
    const std::int64_t bound = random.integer(0, 3);
    input.staleness_bound = bound;
    const AsyncTimes times = run_async(input);
    std::vector<std::int64_t> completed(input.workers);
    for (const AsyncUpdate& update : times.updates) {
      ++completed[update.worker];
      const auto [least, most] = std::ranges::minmax(completed);
      CHECK(most - least <= bound + 1);
    }
    // Another worker is at most s + 1 iterations behind when weights are read, and at most s + 1
    // ahead when the gradient arrives.
    CHECK(times.staleness.max() <= (input.workers - 1) * (2 * bound + 2));
    for (std::size_t w = 0; w < times.workers.size(); ++w) {
      CHECK(times.workers[w].held_s >= 0);
      CHECK(times.workers[w].held_s <= times.workers[w].wait_s + 1e-9);
    }
  }
}
