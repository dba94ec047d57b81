// The baseline of speed-up and efficiency: one worker alone.
#include "run/run_program.hpp"

#include <doctest/doctest.h>

#include <string>

#include "scenario/scenario_text.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using stepsim::testing::within;

namespace {

// Forward 1 s, backward 2 s, update 0.5 s.
study::Scenario workers(int nodes, const std::string& variability,
                        const std::string& training = "") {
  return study::testing::scenario(
      R"({"workload": {"layers": [{"name": "a", "forward_s": 1, "backward_s": 2,
                                   "gradient_bytes": 4}]},
          "cluster": {"nodes": )" +
      std::to_string(nodes) + R"(, "network": {"latency_s": 0, "bandwidth_Bps": 1e9}},
          "training": {"update_s": 0.5)" +
      training + R"(}, "variability": {)" + variability + "}}");
}

std::string straggler(int worker, const std::string& factor) {
  return R"("stragglers": [{"worker": )" + std::to_string(worker) + R"(, "factor": )" + factor +
         "}]";
}

} // namespace

TEST_CASE("alone: without random factors the fastest worker is the baseline") {
  CHECK(alone_seconds(workers(4, ""), 0, 9) == 1 + 2 + 0.5);
  CHECK(alone_seconds(workers(4, straggler(1, "3")), 0, 9) == 1 + 2 + 0.5);
  CHECK(alone_seconds(workers(4, straggler(1, "0.5")), 0, 9) == (1 + 2 + 0.5) / 2);
  CHECK(alone_seconds(workers(1, straggler(0, "3")), 0, 9) == 3 * (1 + 2 + 0.5)); // no other
}

TEST_CASE("alone: the factors are those of the run, stragglers at the pace of the fastest") {
  const study::Scenario three = workers(3, R"("compute_cv": 0.6, )" + straggler(1, "4"));
  const layers::Jitter jitter(three.variability, 3);
  double together = 0;
  for (std::uint32_t w = 0; w < 3; ++w) {
    for (std::int64_t t = 3; t <= 5; ++t) { // from 1
      together += jitter.compute(w, t) / (w == 1 ? 4 : 1) * 3.5 / 9;
    }
  }
  CHECK(alone_seconds(three, 2, 4) == within(together, 1e-12));
}

TEST_CASE("alone: input is hidden behind the iteration, or adds to it") {
  CHECK(alone_seconds(workers(2, "", R"(, "input_s": 4)"), 0, 2) == 4 + 0.5);
  CHECK(alone_seconds(workers(2, "", R"(, "input_s": 4, "input_pipelined": false)"), 0, 2) ==
        1 + 2 + 0.5 + 4);
}
