#include "study/run.hpp"

#include <cmath>

#include "base/error.hpp"
#include "base/number_text.hpp"
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

} // namespace

Result run(const Scenario& scenario) {
  Result result = run_sync(scenario);
  check_limit(scenario, *result.summary.makespan_s);
  return result;
}

} // namespace stepsim::study
