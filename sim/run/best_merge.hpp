#pragma once
// How far the schedule of a run is from the best merge of its gradients (MG-WFBP, 1811.11141, and
// the exact optimum), and the period by formula.
#include "buckets/planners.hpp"
#include "programs/step/step.hpp"
#include "run/bucket_cost.hpp"
#include "run/result.hpp"

namespace stepsim::study {

// Sets merge_optimal_iteration_time_s to the iteration time of the best merge, `best_s`. Only for
// schedules that plan with the cost of messages alone (buckets::Needs::cost), it is set to the
// run's own iteration time if that is less, and merge_gap_to_optimal is set. The iteration time of
// `summary` must be set.
void compare_with_optimum(buckets::Schedule schedule, double best_s, Summary& summary);

// If the schedule needs a linear cost, sets merge_linear: false if planners get the tangent of the
// library model, else true. For mg_wfbp, sets merge_waiting_merges and merge_certified_optimal.
void fill_greedy(const Scenario& scenario, const buckets::Problem& problem,
                 const buckets::Plan& plan, Summary& summary);
// Whether the closed form of some message of the plan is an upper bound.
[[nodiscard]] bool formula_is_bound(const Scenario& scenario, const buckets::Plan& plan);
// Calls compare_with_optimum() with the best merge, whose messages are timed by the evaluator of
// the run. Without a measured curve or a fabric, also sets closed_form_s and closed_form_is_bound.
// Sets nothing for reduce_broadcast. The iteration time of `summary` must be set. `bare` is the
// step without messages; `step` has the messages of `plan`, and its times are overwritten.
void fill_optimum(const Scenario& scenario, const buckets::Problem& problem,
                  const buckets::Plan& plan, const programs::StepInput& bare,
                  programs::StepInput& step, BucketCosts& costs, Summary& summary);

} // namespace stepsim::study
