#pragma once
// The merge of schedule `optimal` where the cost that planners see is not all that the run does
// with a message: halves of exchanges, micro-batches, late updates, slowdowns, workers that differ.
#include <optional>

#include "buckets/planners.hpp"
#include "buckets/problem.hpp"
#include "run/result.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

// Whether the period of the run is the finish that schedule `optimal` makes earliest (MER 5.7), so
// that no other merge into messages that follow each other is faster.
[[nodiscard]] bool merge_is_certified(const Scenario& scenario);

// Whether the run looks for a faster merge than that of schedule `optimal`: where it is not
// certified, except on simulated networks, on which every merge would have to be simulated, and
// with /communication/plan_cost, which says what is to be planned with.
[[nodiscard]] bool searches_merge(const Scenario& scenario);
// The schedule whose merge is the fastest in the run; empty if it is that of `optimal` itself. The
// scenario must be one of searches_merge(). Throws as run() does.
[[nodiscard]] std::optional<buckets::Schedule> faster_merge(const Scenario& scenario);

// How far the schedule of a run is from the best merge of its gradients (MG-WFBP, 1811.11141, and
// the exact optimum), and the period by formula.

// Whether a run has the figures of its merge: dense training in step, one exchange per bucket and
// iteration, on a network whose messages are not simulated.
[[nodiscard]] bool has_merge_figures(const Scenario& scenario);
// If the schedule needs a linear cost, sets merge_linear: false if planners get the tangent of the
// library model, else true. For mg_wfbp, sets merge_waiting_merges and merge_certified_optimal.
void fill_greedy(const Scenario& scenario, const buckets::Problem& problem,
                 const buckets::Plan& plan, Summary& summary);
// Sets merge_optimal_iteration_time_s to the iteration time of the best merge, which is run as
// `scenario` is. Only for schedules that plan with the cost of messages alone
// (buckets::Needs::cost), it is at most the run's own iteration time, and merge_gap_to_optimal is
// set. Sets nothing for reduce_broadcast, workers that differ and slowdowns by overlap. The
// iteration time of `summary` must be set.
void fill_optimum(const Scenario& scenario, Summary& summary);

// Sets closed_form_s and closed_form_is_bound, where the exchanges of `plan` have formulas.
// Formulas that the run chose are exact; others may be bounds. Halves of exchanges and outer
// exchanges are asked for no other formula than the one that the run chose. The iteration time and
// result.exchange_method must be set.
void fill_closed_form(const Scenario& scenario, const buckets::Plan& plan, Result& result);

} // namespace stepsim::study
