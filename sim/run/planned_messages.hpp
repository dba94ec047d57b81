#pragma once
// From a plan to the messages of a step: which schedule sends them, in which phases, by the cost
// that planners see or by what the evaluators say. Seconds and bytes.
#include <span>
#include <string_view>
#include <vector>

#include "plan/planners.hpp"
#include "run/bucket_cost.hpp"
#include "scenario/merge_problem.hpp"
#include "train/step/step.hpp"

namespace stepsim::study {

// How long one message of the plan holds the channel, copies left out.
struct MessageSeconds {
  double exchange{};  // all-reduce, or the reduce of reduce_broadcast
  double broadcast{}; // broadcast of reduce_broadcast, or all-gather of DeAR; else 0
  double startup{};   // part of `exchange` that other messages do not slow; asc_wfbp, priority
};

// Copies in and out of a merged buffer (MER 4.4); empty gradients are not merged.
[[nodiscard]] double copy_seconds(const Scenario& scenario, const plan::Group& group);
// Infinite times are an error wherever they are met.
inline constexpr std::string_view kBeyondNumbers =
    "the times of the run are beyond the range of numbers";
// Throws SimulationError where gradients or messages take longer than numbers can say.
void check_range(const plan::Problem& problem);

// The merge problem of the scenario. On a simulated network a planner that cuts into chunks needs
// no cost, and gets none.
[[nodiscard]] plan::Problem planned_problem(const Scenario& scenario);

// The plan of the scenario's schedule, by the cost of `problem` or, if given, by
// /communication/plan_cost. Throws as check_range and plan::make_plan do.
[[nodiscard]] plan::Plan plan_of(const Scenario& scenario, const plan::Problem& problem);

// has_all_gathers: messages are reduce-scatters, each with an all-gather of its own (DeAR).
// splits_exchange: the evaluators time both, as they can for a dense ring; otherwise each counts as
// half the time of the all-reduce.
[[nodiscard]] bool has_all_gathers(const Scenario& scenario);
[[nodiscard]] bool splits_exchange(const Scenario& scenario);

// The messages of a plan by the cost of `problem`, and by the evaluators of the run.
[[nodiscard]] std::vector<MessageSeconds> planned_seconds(const Scenario& scenario,
                                                          const plan::Problem& problem,
                                                          const plan::Plan& plan,
                                                          plan::Schedule schedule);
[[nodiscard]] MessageSeconds message_seconds(const plan::Problem& problem, const BucketCost& cost,
                                             plan::Schedule schedule);
// Start-up of a message that takes `seconds`, 0 where the cost is not linear.
[[nodiscard]] double startup_seconds(const plan::Problem& problem, double seconds);

// The step of a worker without its messages: computing, update, input and what waits for what.
[[nodiscard]] train::StepInput step_input(const Scenario& scenario);
// The step with one message per bucket of `plan`; bucket g lasts seconds[g] plus its buffer copies.
[[nodiscard]] train::StepInput step_input(const Scenario& scenario, const plan::Plan& plan,
                                          std::span<const MessageSeconds> seconds,
                                          plan::Schedule schedule);
// Adds one message per bucket of `plan` to a step without messages. The messages have no times yet
// (set_times()).
[[nodiscard]] train::StepInput with_messages(train::StepInput step, const Scenario& scenario,
                                             const plan::Plan& plan, plan::Schedule schedule);
// Sets the times of the messages of `step`, one per bucket of `plan`.
void set_times(const Scenario& scenario, const plan::Plan& plan,
               std::span<const MessageSeconds> seconds, train::StepInput& step);

} // namespace stepsim::study
