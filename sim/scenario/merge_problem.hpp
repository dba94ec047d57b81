#pragma once
// What the planner of a scenario sees: gradients with their ready times, and what a message costs.
#include "plan/problem.hpp"
#include "scenario/scenario_exchange.hpp"

namespace stepsim::study {

// Items are the gradients in the order of the workload, one of 0 bytes where there are none. Ready
// times count from the start of backward; without overlap_backward all are its end.
[[nodiscard]] plan::Problem merge_problem(const Scenario& scenario);
// As merge_problem's cost, but dense messages cost their closed form even where it is only an upper
// bound on what the run evaluates.
[[nodiscard]] plan::Cost formula_cost(const Scenario& scenario);

} // namespace stepsim::study
