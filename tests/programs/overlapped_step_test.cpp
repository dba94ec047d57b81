#include "programs/overlapped_step.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "programs/builders/step_programs.hpp"
#include "programs/event_pass.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::programs;
using stepsim::Seconds;
using stepsim::base::RandomStream;
using stepsim::testing::within;

TEST_CASE("overlapped step: a message stretches the backward next to it") {
  // 2 s of backward before message 1 of 3 s, next to which 1.5 s of 4 s are computed.
  const std::vector<OverlappedMessage> messages{{.ready_s = 2, .seconds = 3},
                                                {.ready_s = 6, .seconds = 1}};
  CHECK(overlapped_step_s(10, 6, messages, 2) == 10 + 2 + 3 + (6 - 3.5) + 1);
  CHECK(overlapped_step_s(10, 6, messages, 1) == 10 + 6 + 1);
  CHECK(overlapped_step_s(10, 6, {}, 2) == 16);
}

TEST_CASE("overlapped step: the shortcut is the program") {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    CAPTURE(seed);
    RandomStream random({.seed = 63, .point = seed});
    const auto count = static_cast<std::size_t>(random.integer(1, 8));
    const double slowdown = random.uniform(1, 4);
    std::vector<LayerTimes> layers;
    double forward = 0;
    double backward = 0;
    for (std::size_t l = 0; l < count; ++l) {
      layers.push_back({{random.uniform(0, 2)}, {random.uniform(0, 2)}, 1});
      forward += layers.back().forward.value;
      backward += layers.back().backward.value;
    }
    std::vector<BucketTimes> buckets;
    std::vector<OverlappedMessage> messages;
    double ready = 0;
    std::vector<std::uint32_t> open;
    for (std::size_t l = count; l-- > 0;) {
      ready += layers[l].backward.value;
      open.push_back(static_cast<std::uint32_t>(l));
      if (l == 0 || random.integer(0, 1) == 0) {
        const double startup = random.uniform(0, 0.5);
        const double data = random.uniform(0, 3);
        buckets.push_back({.layers = open, .reduce = {{startup}, {data}}, .gather = {}});
        messages.push_back({.ready_s = ready, .seconds = startup + data});
        open.clear();
      }
    }
    const double update = random.uniform(0, 1);
    Program program = sync_sgd_program(layers, buckets, {.update = Seconds{update}});
    program.interference.compute.fill(slowdown);
    const EventPeriod found = event_period(program);
    CHECK(found.cyclicity == 1);
    CHECK(overlapped_step_s(forward + update, backward, messages, slowdown) ==
          within(found.period.value, 1e-9));
  }
}
