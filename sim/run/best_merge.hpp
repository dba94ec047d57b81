#pragma once
// How far the schedule of a run is from the best merge of its gradients (MG-WFBP, 1811.11141, and
// the exact optimum), and the period by formula.
#include "plan/planners.hpp"
#include "run/bucket_cost.hpp"
#include "run/result.hpp"

namespace stepsim::study {

// Sets the iteration time of the best merge, and the distance to it for schedules that send one
// message at a time. `best_s`: iteration time of the best merge, s.
void compare_with_optimum(plan::Schedule schedule, double best_s, Summary& summary);

// merge_*, closed_form_s and closed_form_is_bound of the summary, whose iteration time is known;
// the best merge is evaluated as the run is.
void fill_merge(const Scenario& scenario, const plan::Problem& problem, const plan::Plan& plan,
                BucketCosts& costs, Summary& summary);

} // namespace stepsim::study
