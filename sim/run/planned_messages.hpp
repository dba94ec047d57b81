#pragma once
// Makes the messages of a step: the plan, what waits for each message, and copies beside exchanges.

#include "run/bucket_cost.hpp"
#include "run/result.hpp"

namespace stepsim::study {

struct ProgramMemory; // program_memory.hpp

// How long one message of the plan holds the channel, copies left out.
struct MessageSeconds {
  double exchange{};  // all-reduce, or the reduce of reduce_broadcast
  double broadcast{}; // broadcast of reduce_broadcast, or all-gather of DeAR; else 0
};

// [group]: the first one whose message takes as long: of as many bytes, and copied or not, either.
// A compressed one has its own.
[[nodiscard]] std::vector<std::uint32_t> alike(const Scenario& scenario, const buckets::Plan& plan);

// Seconds to copy the gradients of a group into a merged buffer and out of it again (MER 4.4). 0 if
// fewer than two gradients of the group have bytes, or without /communication/copy_bandwidth_Bps.
[[nodiscard]] double copy_seconds(const Scenario& scenario, const buckets::Group& group);
// The error message for a time that is infinite or not a number.
inline constexpr std::string_view kBeyondNumbers =
    "the times of the run are beyond the range of numbers";
// Throws SimulationError (kBeyondNumbers) if the ready times of the gradients, or the sum of the
// times of one message per gradient, exceed the range of a double.
void check_range(const buckets::Problem& problem);

// The merge problem of the scenario, and its cost alone. On a simulated network the cost of
// messages need not be linear. A planner that needs a linear cost then gets a cost of 0 s.
[[nodiscard]] buckets::Problem planned_problem(const Scenario& scenario);
[[nodiscard]] buckets::Cost planned_cost(const Scenario& scenario);
// Makes the gradients ready as they are in the scenario, where the backward of layers ends at
// `ends`.
void move_items(const Scenario& scenario, std::span<const Seconds> ends,
                std::vector<buckets::Item>& items);

// The plan of the scenario's schedule, by the cost of `problem` or, if given, by
// /communication/plan_cost. Throws as check_range and buckets::make_plan do.
[[nodiscard]] buckets::Plan plan_of(const Scenario& scenario, const buckets::Problem& problem);

// Whether every message is a reduce-scatter that is followed by an all-gather of its own (DeAR).
[[nodiscard]] bool has_all_gathers(const Scenario& scenario);
// Whether the evaluators time the reduce-scatter and the all-gather separately, as they can for a
// dense ring. Otherwise each counts as half the time of the all-reduce.
[[nodiscard]] bool splits_exchange(const Scenario& scenario);

// The start-ups of a message that takes `seconds` in all and of its second half, if it has one; 0
// where `cost` is not linear.
[[nodiscard]] std::pair<double, double> line_startups(const Scenario& scenario,
                                                      const buckets::Cost& cost, double seconds);

// The layers of the next forward that wait for a bucket, in the order of its gradients: nothing
// waits for an empty one.
[[nodiscard]] std::vector<std::uint32_t> waiting_layers(const Scenario& scenario,
                                                        const buckets::Group& group);
// `seconds` and the time of copies; a message with an all-gather has half of that time in each
// part.
[[nodiscard]] MessageSeconds with_copies(const Scenario& scenario, const buckets::Group& group,
                                         MessageSeconds seconds, bool all_gathers);

// The merge of schedule `optimal` where the cost that planners see is not all that the run does
// with a message: halves of exchanges, micro-batches, late updates, slowdowns, workers that differ.

// Whether the period of the run is the finish that schedule `optimal` makes earliest (MER 5.7), so
// that no other merge into messages that follow each other is faster.
[[nodiscard]] bool merge_is_certified(const Scenario& scenario);

// Whether the run looks for a faster merge than that of schedule `optimal`: where it is not
// certified, except on simulated networks, on which every merge would have to be simulated, and
// with /communication/plan_cost, which says what is to be planned with.
[[nodiscard]] bool searches_merge(const Scenario& scenario);
struct FastestMerge {
  buckets::Schedule merge{}; // `optimal`, or the schedule whose merge is faster than its own
  double period_s{};
};
// The schedule whose merge is the fastest in the run, and the step with it. The scenario
// must be one of searches_merge(). `memory` as for run(). Throws as run() does.
[[nodiscard]] FastestMerge fastest_merge(const Scenario& scenario, ProgramMemory* memory = nullptr);

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
