#include "programs/step/alone.hpp"

#include <doctest/doctest.h>

#include "programs/factors.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::layers;
using namespace stepsim::programs;
using stepsim::testing::within;

TEST_CASE("alone: without random factors the fastest worker is the baseline") {
  const AloneWork work{.forward_s = 1, .backward_s = 2, .update_s = 0.5};
  Variability variability;
  CHECK(alone_seconds(work, stepsim::layers::Jitter(variability, 4), 1, 10) == 1 + 2 + 0.5);
  variability.stragglers = {{.worker = 1, .factor = 3}};
  CHECK(alone_seconds(work, stepsim::layers::Jitter(variability, 4), 1, 10) == 1 + 2 + 0.5);
  variability.stragglers = {{.worker = 1, .factor = 0.5}};
  CHECK(alone_seconds(work, stepsim::layers::Jitter(variability, 4), 1, 10) == (1 + 2 + 0.5) / 2);
  variability.stragglers = {{.worker = 0, .factor = 3}};
  CHECK(alone_seconds(work, stepsim::layers::Jitter(variability, 1), 1, 10) ==
        3 * (1 + 2 + 0.5)); // there is no other
}

TEST_CASE("alone: the factors are those of the run, stragglers at the pace of the fastest") {
  Variability variability;
  variability.compute_cv = 0.6;
  variability.seed = 7;
  variability.stragglers = {{.worker = 1, .factor = 4}};
  const AloneWork work{.forward_s = 1, .backward_s = 2, .update_s = 0.5};
  double together = 0;
  for (std::uint32_t w = 0; w < 3; ++w) {
    const double own = w == 1 ? 0.25 : 1;
    for (std::int64_t t = 3; t <= 5; ++t) {
      const double f = own * compute_factor(variability, w, t);
      together += f * 3.5 / 9;
    }
  }
  CHECK(alone_seconds(work, stepsim::layers::Jitter(variability, 3), 3, 5) ==
        within(together, 1e-12));
}

TEST_CASE("alone: input is hidden behind the iteration, or adds to it") {
  AloneWork work{.forward_s = 1, .backward_s = 2, .update_s = 0.5, .input_s = 4};
  CHECK(alone_seconds(work, stepsim::layers::Jitter({}, 2), 1, 3) == 4 + 0.5);
  work.input_pipelined = false;
  CHECK(alone_seconds(work, stepsim::layers::Jitter({}, 2), 1, 3) == 1 + 2 + 0.5 + 4);
}
