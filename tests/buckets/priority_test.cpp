// P3 / ByteScheduler: MER 6.2 and the cases G of MER 14, exact in binary.
#include <array>
#include <map>
#include <set>

#include <doctest/doctest.h>

#include "base/error.hpp"
#include "buckets/planner_options.hpp"
#include "buckets/planners.hpp"
#include "buckets/sending.hpp"
#include "buckets/steps.hpp"

using namespace stepsim::buckets;
using namespace stepsim::buckets::testing;
using stepsim::Bytes;

namespace {

constexpr std::int64_t kUnlimited = 0;

ScheduleOptions options_of(std::int64_t partition, std::int64_t credit) {
  ScheduleOptions options;
  options.partition_bytes.reset();
  if (partition != kUnlimited) {
    options.partition_bytes = Bytes{partition};
  }
  options.credit_bytes = Bytes{credit};
  return options;
}

double period_of(const Layers& layers, std::int64_t partition, std::int64_t credit) {
  return step_of(layers, Schedule::priority, options_of(partition, credit)).period;
}

double fifo_period(const Layers& layers) { return step_of(layers, Schedule::wfbp).period; }

const Layers kG1{{10, 10}, {20, 20}, {10, 60}, 0, 1};
const Layers kG2{{30, 10}, {20, 20}, {40, 40}, 0, 1};

} // namespace

TEST_CASE("priority: one byte at a time lets the first layer pass everything (MER G1, G2)") {
  // FIFO: layer 2 ready at 20, sent by 80; layer 1 by 90; forward 10 + 10.
  CHECK(fifo_period(kG1) == 20 + 60 + 10 + 10 + 10);
  // Layer 1 is ready at 40 and sent by 50; the 40 bytes of layer 2 that are left end at 90.
  CHECK(period_of(kG1, 1, 1) == 40 + 10 + 40 + 10);
  CHECK(period_of(kG1, kUnlimited, 1) == 110); // nothing left to pass
  CHECK(fifo_period(kG2) == 20 + 40 + 40 + 30 + 10);
  CHECK(period_of(kG2, 1, 1) == 40 + 40 + 30 + 10);
  CHECK(period_of(kG2, 1, 4) == 123); // layer 1 waits for the three bytes that are under way
  CHECK(period_of(kG2, 7, 1) == 121);
  CHECK(period_of(kG2, kUnlimited, 1) == 140);
}

TEST_CASE("priority: the last chunk holds the remainder, items of 0 bytes have none") {
  Problem problem = stepsim::buckets::testing::problem_of({1, 2, 3}, {13, 0, 6}, linear(1, 1));
  for (std::uint32_t i = 0; i < 3; ++i) {
    problem.items[i].layer = 2 - i;
  }
  const Plan plan = make_plan(problem, Schedule::priority, options_of(6, 1));
  REQUIRE(plan.groups.size() == 1 + 3);
  const std::array<std::int64_t, 4> bytes{6, 6, 6, 1};
  for (std::size_t g = 0; g < 4; ++g) {
    CHECK(plan.groups[g].bytes.value == bytes[g]);
  }
  CHECK(plan.groups[0].last() == 2); // layer 1 first; the empty item travels with it
  CHECK(plan.groups[0].items.size() == 2);
  CHECK(plan.groups[1].items == std::vector<std::uint32_t>{0});
}

TEST_CASE("priority: more chunks than a result can hold are refused") {
  const Problem problem = problem_of({1}, {1e9}, linear(1, 1));
  CHECK_THROWS_WITH_AS((void)make_plan(problem, Schedule::priority, options_of(100, 1)),
                       "partition_bytes: 100 cuts the gradients into 10000000 chunks; at most "
                       "1000000 are possible",
                       stepsim::UsageError);
}

namespace {

// The event loop as the specification words it, with ordered sets instead of runs and indices.
struct Oracle {
  std::vector<double> start, end;
  Oracle(const Sending& sending, const std::vector<double>& ready) {
    const std::size_t count = sending.transfers.size();
    start.resize(count);
    end.resize(count);
    std::set<double> event_times(ready.begin(), ready.end());
    std::multimap<double, std::size_t> under_way; // end -> chunk
    std::set<std::size_t> queue;                  // by key
    std::vector<bool> arrived(count);
    const auto full = static_cast<double>(sending.options.credit_bytes.value);
    double credit = full;
    double data_end = 0;
    while (!event_times.empty()) {
      const double now = *event_times.begin();
      event_times.erase(event_times.begin());
      while (!under_way.empty() && under_way.begin()->first <= now) {
        credit = std::min(credit + sending.transfers[under_way.begin()->second].bytes, full);
        under_way.erase(under_way.begin());
      }
      for (std::size_t c = 0; c < count; ++c) {
        if (!arrived[c] && ready[c] <= now) {
          arrived[c] = true;
          queue.insert(c);
        }
      }
      while (!queue.empty() && credit > 0) {
        const std::size_t chunk = *queue.begin();
        queue.erase(queue.begin());
        const Transfer& transfer = sending.transfers[chunk];
        credit -= transfer.bytes;
        start[chunk] = now;
        data_end = std::max(now + transfer.startup_s, data_end) + transfer.data_s;
        end[chunk] = data_end;
        under_way.emplace(data_end, chunk);
        event_times.insert(data_end);
      }
    }
  }
};

} // namespace

TEST_CASE("priority: random networks against an event loop with ordered sets") {
  stepsim::base::RandomStream random({.seed = 31});
  for (int trial = 0; trial < 2000; ++trial) {
    CAPTURE(trial);
    const Layers layers = random_layers(random, 8, true);
    const ScheduleOptions options =
        options_of(random.integer(0, 20), random.integer(1, random.integer(1, 60)));
    const Step step = step_of(layers, Schedule::priority, options);
    std::vector<double> ready;
    for (const Group& group : step.plan.groups) {
      ready.push_back(group.ready.value);
    }
    const Oracle oracle(step.sending, ready);
    CHECK(step.times.start_s == oracle.start);
    CHECK(step.times.end_s == oracle.end);
    // No message is under way twice; the channel is never busier than all messages one by one.
    double alone = 0;
    for (const Transfer& transfer : step.sending.transfers) {
      alone += transfer.startup_s + transfer.data_s;
    }
    CHECK(step.times.busy_s <= alone * (1 + 1e-12) + 1e-12);
  }
}

TEST_CASE("no schedule is below the bound of a dependency per layer") {
  stepsim::base::RandomStream random({.seed = 34});
  for (int trial = 0; trial < 1000; ++trial) {
    CAPTURE(trial);
    const Layers layers = random_layers(random, 8, true);
    const double total = std::accumulate(layers.bytes.begin(), layers.bytes.end(), 0.0);
    const double forward = layers.forward_s();
    const double backward = layers.backward_s();
    double bound = forward + backward;
    if (layers.bytes[0] > 0) {
      bound =
          std::max(bound, backward + layers.startup + layers.per_byte * layers.bytes[0] + forward);
    }
    if (total > 0) {
      double first_ready = 0;
      for (std::size_t l = layers.bytes.size(); l-- > 0;) {
        first_ready += layers.backward[l];
        if (layers.bytes[l] > 0) {
          break;
        }
      }
      bound = std::max(bound, first_ready + layers.startup + layers.per_byte * total +
                                  layers.forward.back());
    }
    const double slack = 1e-9 * bound;
    CHECK(period_of(layers, random.integer(1, 30), random.integer(1, 60)) >= bound - slack);
    CHECK(step_of(layers, Schedule::optimal).period >= bound - slack);
  }
}
