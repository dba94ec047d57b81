#include "programs/event_pass.hpp"

#include <doctest/doctest.h>

#include <cstdint>

#include "base/random.hpp"
#include "programs/builders/step_programs.hpp"
#include "programs/operation_times.hpp"
#include "programs/program_draft.hpp"
#include "programs/random_programs.hpp"
#include "programs/steady_state.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::programs;
using stepsim::Seconds;
using stepsim::base::RandomStream;
using stepsim::testing::within;

TEST_CASE("event period: iterations that alternate count as a whole (row P1)") {
  const EventPeriod found = event_period(alternating());
  CHECK(found.period.value == 6);
  CHECK(found.cyclicity == 2);
}

TEST_CASE("event period: without interference it is the maximum cycle ratio") {
  int repeated = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    RandomStream random({.seed = 61, .point = seed});
    const Program program = with_ending_waits(random_program(random, 1), random);
    const EventPeriod found = event_period(program);
    if (found.cyclicity > 0) {
      ++repeated;
      CHECK(found.period.value == within(steady_state(program).period.value, 1e-9));
    }
  }
  CHECK(repeated > 100); // the others have streams that fall behind without limit
}

TEST_CASE("event period: streams that drift apart never repeat and give the mean") {
  ProgramDraft draft;
  const auto fast = draft.compute("fast", draft.stream("s1"), Kind::forward, Seconds{1});
  draft.compute("slow", draft.stream("s2"), Kind::other, Seconds{2});
  const EventPeriod found = event_period(draft.finish(fast));
  CHECK(found.cyclicity == 0);
  CHECK(found.period.value == 1);
}

TEST_CASE("event period: the mean of a long run under interference tends to it") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    RandomStream random({.seed = 62, .point = seed});
    const auto seconds = [&](double low, double high) {
      return Seconds{random.uniform(low, high)};
    };
    const std::vector<LayerTimes> layers{{seconds(0, 4), seconds(1, 5), 1},
                                         {seconds(0, 4), seconds(1, 5), 1}};
    const std::vector<BucketTimes> buckets{
        {.layers = {1}, .reduce = {seconds(0, 0.5), seconds(1, 5)}, .gather = {}},
        {.layers = {0}, .reduce = {seconds(0, 0.5), seconds(1, 5)}, .gather = {}}};
    Program program = pipe_sgd_program(layers, buckets,
                                       {.width = static_cast<std::int32_t>(random.integer(1, 3))});
    program.interference.compute.fill(random.uniform(1, 3));
    program.interference.exchange = random.uniform(1, 2);
    const EventPeriod found = event_period(program);
    CHECK(found.cyclicity > 0);
    constexpr std::int64_t kLong = 4096;
    CHECK(mean_period(event_pass(program, kLong), kLong / 2).value ==
          within(found.period.value, 2e-3));
  }
}
