#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "programs/builders/fsdp_program.hpp"
#include "programs/builders/step_programs.hpp"
#include "programs/layers_g3.hpp"
#include "programs/staleness_histogram.hpp"

using namespace stepsim::programs;
using stepsim::Seconds;

TEST_CASE("staleness: 0 for every synchronous algorithm, one entry per update and bucket") {
  using Counts = std::vector<std::int64_t>;
  // Updates at the head of an iteration apply what the iteration before delivered.
  CHECK(staleness_histogram(sync_sgd_program(g3_layers(), g3_per_layer()), 5) == Counts{4 * 4});
  CHECK(staleness_histogram(dear_program(g3_layers(), g3_per_layer()), 5) == Counts{4 * 4});
  // Updates at the end apply their own iteration.
  CHECK(staleness_histogram(reduce_broadcast_program(g3_layers(), g3_per_layer(), Seconds{1}), 5) ==
        Counts{4 * 5});
  CHECK(staleness_histogram(zero_program(g3_layers(), g3_per_layer(), {}), 5) == Counts{4 * 5});
  CHECK(staleness_histogram(fsdp_program(std::vector<UnitTimes>(3), {}), 5) == Counts{3 * 5});
}

TEST_CASE("staleness: K - 1 for a pipeline of width K, after K iterations") {
  for (std::int32_t width = 1; width <= 4; ++width) {
    CAPTURE(width);
    std::vector<std::int64_t> expected(static_cast<std::size_t>(width), 0);
    expected.back() = 2 * (10 - width);
    CHECK(staleness_histogram(pipeline(1, {{0, 0}, {0, 0}}, width), 10) == expected);
  }
}

TEST_CASE("staleness: an update cannot apply what is exchanged after it") {
  Program program = pipeline(1, {{0, 0}}, 1);
  CHECK(problems_of(program, "p.json").empty());
  program.applies[0].distance = 0;
  CHECK(problems_of(program, "p.json").front().text() ==
        "p.json: /operations/0/applies: must be >= 1, got 0");
}
