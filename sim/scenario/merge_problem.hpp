#pragma once
// Makes the merge problem that the planner of a scenario solves: gradients with their ready times,
// and the cost of a message by its bytes. Times are in seconds.
#include <vector>

#include "buckets/problem.hpp"
#include "scenario/scenario_exchange.hpp"

namespace stepsim::study {

// The items of the problem are the gradients in the order of the workload; if there are none, a
// single item of 0 bytes. Ready times count from the start of backward; without overlap_backward
// all gradients are ready at its end.
[[nodiscard]] buckets::Problem merge_problem(const Scenario& scenario);
// The two parts of merge_problem(). The items do not depend on the network.
[[nodiscard]] std::vector<buckets::Item> merge_items(const Scenario& scenario);
[[nodiscard]] buckets::Cost merge_cost(const Scenario& scenario);
// The scenario with the latency and bandwidth of its network and nothing simulated.
[[nodiscard]] Scenario on_alpha_beta(const Scenario& scenario);
// A cost whose start-up is that of the messages that `cost` times, where it can be told. `cost` is
// merge_cost(). Messages that are flows of a star have the start-up of alpha_beta, those of a
// topology that of the tangent at the mean gradient.
[[nodiscard]] buckets::Cost startup_cost(const Scenario& scenario, const buckets::Cost& cost);
// The problem with its cost replaced by /communication/plan_cost; unchanged without that key.
[[nodiscard]] buckets::Problem as_planned(const Scenario& scenario, buckets::Problem problem);
} // namespace stepsim::study
