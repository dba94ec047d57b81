#pragma once
// Which scenarios the short way through a sweep (sweep_quick.hpp) knows. Everything else is run the
// long way, point by point, so that a condition that is too strict costs time and no correctness.
#include "plan/planners.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

// Whether the scenario is one of equal workers in step, whose exchange of n bytes costs a + b n by
// its closed form, on any latency, bandwidth and number of nodes.
[[nodiscard]] bool takes_quick_way(const Scenario& scenario);

// Whether points that differ from the scenario in latency, bandwidth and number of nodes (two or
// more) share its workload, and nothing of their scenarios but these numbers differs: synchronous
// training on latency and bandwidth, with any schedule, evaluator and jitter.
[[nodiscard]] bool shares_workload(const Scenario& scenario);

} // namespace stepsim::study
