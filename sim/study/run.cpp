#include "study/run.hpp"

#include <cmath>
#include <numeric>

#include "base/counter_hash.hpp"
#include "base/error.hpp"
#include "base/number_text.hpp"
#include "base/statistics.hpp"
#include "study/bucket_cost.hpp"
#include "study/run_parts.hpp"

namespace stepsim::study {

namespace {

void check_limit(const Scenario& scenario, double makespan) {
  if (!std::isfinite(makespan)) {
    throw SimulationError("the times of the run are beyond the range of numbers");
  }
  if (makespan > scenario.simulated_limit.value) {
    throw SimulationError("the run lasts " + base::significant(makespan) +
                          " s of simulated time, more than /limits/simulated_s (" +
                          base::significant(scenario.simulated_limit.value) + ")");
  }
}

Result run_algorithm(const Scenario& scenario) {
  switch (scenario.training.algorithm) {
  case TrainingAlgorithm::sync_sgd:
    return run_sync(scenario);
  case TrainingAlgorithm::pipe_sgd:
    return run_pipeline(scenario);
  case TrainingAlgorithm::parameter_server:
    return scenario.training.async ? run_async_server(scenario) : run_sync(scenario);
  }
  return {};
}

double dense_period(const Scenario& scenario, const Communication& communication) {
  Scenario dense = scenario;
  dense.communication = communication;
  return *run_algorithm(dense).summary.iteration_time_s;
}

// Against the same run without compression: everything in one message after backward, and
// overlapped with backward (SPA 5).
void compare_with_dense(const Scenario& scenario, Summary& summary) {
  const double period = *summary.iteration_time_s;
  if (!is_compressed(scenario) || !(period > 0)) {
    return;
  }
  Communication sequential = *scenario.dense_baseline;
  sequential.schedule = plan::Schedule::single;
  summary.speedup_vs_dense_sequential = dense_period(scenario, sequential) / period;
  summary.speedup_vs_dense_overlapped = dense_period(scenario, *scenario.dense_baseline) / period;
}

} // namespace

Result run(const Scenario& scenario) {
  Result result = run_algorithm(scenario);
  check_limit(scenario, *result.summary.makespan_s);
  compare_with_dense(scenario, result.summary);
  return result;
}

std::uint64_t replication_seed(std::uint64_t seed, std::int64_t replication) {
  constexpr std::uint64_t kStream = 19; // beside those of PKT 3.6 and PIP 9
  return replication == 0
             ? seed
             : base::hash(seed, kStream, static_cast<std::uint64_t>(replication)) >> 11;
}

Result run_replications(const Scenario& scenario, std::int64_t replications) {
  Result result = run(scenario);
  std::vector<double> periods{*result.summary.iteration_time_s};
  Scenario other = scenario;
  for (std::int64_t r = 1; r < replications; ++r) {
    other.variability.seed = replication_seed(scenario.variability.seed, r);
    periods.push_back(*run(other).summary.iteration_time_s);
  }
  if (replications > 1) {
    const base::Interval interval = base::mean_interval_95(periods);
    result.summary.iteration_time_s = std::midpoint(interval.low, interval.high);
    result.summary.iteration_time_low_s = interval.low;
    result.summary.iteration_time_high_s = interval.high;
    result.warnings.push_back("iteration_time_s is the mean of " + std::to_string(replications) +
                              " replications; the other figures are of the first");
  }
  return result;
}

} // namespace stepsim::study
