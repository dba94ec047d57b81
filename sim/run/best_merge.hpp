#pragma once
// How far the schedule of a run is from the best merge of its gradients (MG-WFBP, 1811.11141, and
// the exact optimum), and the period by formula.
#include "plan/planners.hpp"
#include "run/bucket_cost.hpp"
#include "run/result.hpp"
#include "train/step/step.hpp"

namespace stepsim::study {

// Sets the iteration time of the best merge, `best_s` seconds. For schedules that plan with the
// cost of messages alone (plan::Needs::cost) it is at most the run's own, and how much longer the
// run's iteration is gets set, too.
void compare_with_optimum(plan::Schedule schedule, double best_s, Summary& summary);

// Sets merge_linear, and of the greedy merge_waiting_merges and merge_certified_optimal.
void fill_greedy(const Scenario& scenario, const plan::Problem& problem, const plan::Plan& plan,
                 Summary& summary);
// Sets the other merge_*, closed_form_s and closed_form_is_bound of a summary whose iteration time
// is known; nothing with reduce_broadcast. The messages of the best merge are timed by the
// evaluator of the run. `bare` is the step without messages; `step` has those of `plan`, whose
// times are changed.
void fill_optimum(const Scenario& scenario, const plan::Problem& problem, const plan::Plan& plan,
                  const train::StepInput& bare, train::StepInput& step, BucketCosts& costs,
                  Summary& summary);

} // namespace stepsim::study
