#include "scenario/conditions.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "scenario/scenario_conditions.hpp"
#include "scenario/scenario_text.hpp"
#include "testing/tolerance.hpp"

namespace stepsim::study {
namespace {

using stepsim::testing::within;

TEST_CASE("conditions: a factor that is moved stays where it has a meaning") {
  CHECK(moved(Factor::e_pcie, {0.36, 0.25}, 1) == within(0.36 * std::exp(0.25), 1e-15));
  CHECK(moved(Factor::l_0, {0.03, 0.025}, -2) == 0);
  CHECK(moved(Factor::s_bus, {1.05, 0.12}, -1) == 1);
  CHECK(moved(Factor::q, {0.5, 0.2}, 1) == within(0.7, 1e-15));
  CHECK(tau_of_range(Factor::c_cloud, 0.8e9 * std::exp(-1.2815515655446004 * 0.5),
                     0.8e9 * std::exp(1.2815515655446004 * 0.5)) == within(0.5, 1e-12));
}

TEST_CASE("conditions: the estimated times of all jobs are longer or shorter together") {
  const std::string job = R"({"model": "bert_base", "gpu": "h100", "batch_size": 8,
      "sequence_length": 128, "nodes": 1})";
  const Scenario scenario = testing::scenario(R"({"workload": [)" + job + ", " + job +
                                              R"(], "cluster": {"nodes": 2, "network": {
          "model": "flow", "latency_s": 1e-5, "bandwidth_Bps": 1e9}}})");
  const Scenario longer = with_scaled_computing(scenario, 2);
  REQUIRE(longer.other_jobs.size() == 1);
  CHECK(longer.workload.layers.front().forward == scenario.workload.layers.front().forward * 2);
  CHECK(longer.other_jobs.front().workload.layers.front().forward ==
        longer.workload.layers.front().forward);
}

} // namespace
} // namespace stepsim::study
