// What holds for every run, whatever the algorithm, the network and the variability: the parts of
// an iteration add up to it, the efficiency is at most 1, no time lies below its bound.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/error.hpp"
#include "base/random.hpp"
#include "run/random_scenarios.hpp"
#include "scenario/scenario_text.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using stepsim::base::RandomStream;
using stepsim::study::Result;
using stepsim::study::Summary;
using stepsim::testing::within;

namespace {

void check_shares(const Result& result) {
  const Summary& summary = result.summary;
  const double period = *summary.iteration_time_s;
  constexpr double kRounding = 1e-9;
  CHECK(period >= 0);
  if (summary.scaling_efficiency) {
    CHECK(*summary.scaling_efficiency <= 1);
    CHECK(*summary.scaling_efficiency >= 0);
  }
  const double parts = *summary.compute_s + summary.compress_s.value_or(0) +
                       *summary.exposed_communication_s + summary.input_wait_s.value_or(0);
  const double steady = *summary.period_s / *summary.steps; // not that of a pipeline that fills
  CHECK(parts == within(steady, kRounding));
  CHECK(*summary.forward_s + *summary.backward_s + *summary.update_s + *summary.codec_compute_s ==
        within(*summary.compute_s, kRounding));
  for (const auto& part :
       {summary.forward_s, summary.backward_s, summary.update_s, summary.compress_s,
        summary.exposed_communication_s, summary.straggler_wait_s, summary.input_wait_s}) {
    CHECK(part.value_or(0) >= 0);
    CHECK(part.value_or(0) <= std::max(period, steady) * (1 + kRounding));
  }
  if (summary.lower_bound_s) {
    CHECK(*summary.lower_bound_s <= period);
  }
  if (summary.merge_gap_to_optimal) {
    CHECK(*summary.merge_gap_to_optimal >= 0);
    CHECK(*summary.merge_optimal_iteration_time_s <= period);
  }
  CHECK(summary.iteration_time_low_s.has_value() == summary.iteration_time_high_s.has_value());
  if (summary.iteration_time_low_s) {
    CHECK(*summary.iteration_time_low_s >= 0);
    CHECK(*summary.iteration_time_low_s <= period);
    CHECK(*summary.iteration_time_high_s >= period);
  }
}

} // namespace

TEST_CASE("run: parts add up, efficiency is at most 1, times keep to their bounds (random runs)") {
  // By hand: STEPSIM_SHARES_TRIALS=20000.
  const char* asked = std::getenv("STEPSIM_SHARES_TRIALS");
  const int trials = asked != nullptr ? std::atoi(asked) : 600;
  const std::uint64_t seed = 1;
  CAPTURE(seed);
  RandomStream random({.seed = seed});
  int ran = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const std::string text = study::testing::random_scenario(random);
    CAPTURE(text);
    try {
      const study::Scenario scenario = study::testing::scenario(text, study::Leftovers::ignore);
      const Result result = study::run(scenario);
      check_shares(result);
      for (const study::WorkerResult& worker : result.workers) {
        CHECK(worker.straggler_wait_s >= 0);
        // Asynchronous workers have iterations of their own length.
        const double own = worker.compute_s + worker.straggler_wait_s + worker.transfer_s;
        const double period = scenario.training.async() ? own : *result.summary.iteration_time_s;
        CHECK(worker.straggler_wait_s <= period * (1 + 1e-9));
      }
      check_shares(study::run_replications(scenario, 2));
      ++ran;
    } catch (const InputError&) { // a combination that does not exist
    } catch (const SimulationError&) {
    } catch (const UsageError&) {}
  }
  MESSAGE(ran << " of " << trials << " scenarios ran");
  CHECK(ran > trials / 4);
}
