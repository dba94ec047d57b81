#pragma once
// What the planner of a scenario sees: gradients with their ready times, and what a message costs.
#include "plan/problem.hpp"
#include "scenario/scenario_exchange.hpp"

namespace stepsim::study {

[[nodiscard]] plan::Problem merge_problem(const Scenario& scenario);
// The cost of merge_problem with the closed form also where that is an upper bound.
[[nodiscard]] plan::Cost formula_cost(const Scenario& scenario);

} // namespace stepsim::study
