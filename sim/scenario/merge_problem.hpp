#pragma once
// What the planner of a scenario sees: gradients with their ready times, and what a message costs.
#include <vector>

#include "plan/problem.hpp"
#include "scenario/scenario_exchange.hpp"

namespace stepsim::study {

// Items are the gradients in the order of the workload, one of 0 bytes where there are none. Ready
// times count from the start of backward; without overlap_backward all are its end.
[[nodiscard]] plan::Problem merge_problem(const Scenario& scenario);
// Its two parts: the items do not depend on the network, the cost not on the items.
[[nodiscard]] std::vector<plan::Item> merge_items(const Scenario& scenario);
[[nodiscard]] plan::Cost merge_cost(const Scenario& scenario);
// The problem with the cost that its planner counts with, where /communication/plan_cost gives one.
[[nodiscard]] plan::Problem as_planned(const Scenario& scenario, plan::Problem problem);
// As merge_problem's cost, but dense messages cost their closed form even where it is only an upper
// bound on what the run evaluates.
[[nodiscard]] plan::Cost formula_cost(const Scenario& scenario);

} // namespace stepsim::study
