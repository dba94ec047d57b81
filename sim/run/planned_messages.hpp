#pragma once
// Makes the messages of a step from a plan: their order, their phases, and their times in seconds.
// The times come either from the cost function that planners use or from the evaluators of
// collectives.
#include <span>
#include <string_view>
#include <vector>

#include "buckets/planners.hpp"
#include "programs/step/step.hpp"
#include "run/bucket_cost.hpp"
#include "scenario/scenario_exchange.hpp"

namespace stepsim::study {

// How long one message of the plan holds the channel, copies left out.
struct MessageSeconds {
  double exchange{};  // all-reduce, or the reduce of reduce_broadcast
  double broadcast{}; // broadcast of reduce_broadcast, or all-gather of DeAR; else 0
  // Part of `exchange` that other messages do not slow. Set for planners that need a linear cost
  // (Planner::needs_linear_cost()), else 0.
  double startup{};
};

// Seconds to copy the gradients of a group into a merged buffer and out of it again (MER 4.4). 0 if
// fewer than two gradients of the group have bytes, or without /communication/copy_bandwidth_Bps.
[[nodiscard]] double copy_seconds(const Scenario& scenario, const buckets::Group& group);
// The error message for a time that is infinite or not a number.
inline constexpr std::string_view kBeyondNumbers =
    "the times of the run are beyond the range of numbers";
// Throws SimulationError (kBeyondNumbers) if the ready times of the gradients, or the sum of the
// times of one message per gradient, exceed the range of a double.
void check_range(const buckets::Problem& problem);

// The merge problem of the scenario. On a simulated network the cost of messages need not be
// linear. A planner that needs a linear cost then gets a cost of 0 s.
[[nodiscard]] buckets::Problem planned_problem(const Scenario& scenario);

// The plan of the scenario's schedule, by the cost of `problem` or, if given, by
// /communication/plan_cost. Throws as check_range and buckets::make_plan do.
[[nodiscard]] buckets::Plan plan_of(const Scenario& scenario, const buckets::Problem& problem);

// Whether every message is a reduce-scatter that is followed by an all-gather of its own (DeAR).
[[nodiscard]] bool has_all_gathers(const Scenario& scenario);
// Whether the evaluators time the reduce-scatter and the all-gather separately, as they can for a
// dense ring. Otherwise each counts as half the time of the all-reduce.
[[nodiscard]] bool splits_exchange(const Scenario& scenario);

// The times of the messages of a plan by the cost of `problem`.
[[nodiscard]] std::vector<MessageSeconds> planned_seconds(const Scenario& scenario,
                                                          const buckets::Problem& problem,
                                                          const buckets::Plan& plan,
                                                          buckets::Schedule schedule);
// The times of one message by `cost`, which the evaluators of the run gave. `problem` gives only
// the start-up.
[[nodiscard]] MessageSeconds message_seconds(const buckets::Problem& problem,
                                             const BucketCost& cost, buckets::Schedule schedule);
// The start-up in seconds of a message that takes `seconds`, at most `seconds`; 0 if the cost of
// `problem` is not linear.
[[nodiscard]] double startup_seconds(const buckets::Problem& problem, double seconds);

// The step of a worker without its messages: the times of layers, update and input, the bytes of
// gradients, and what the next forward pass waits for.
[[nodiscard]] programs::StepInput step_input(const Scenario& scenario);
// The step with one message per bucket of `plan`; bucket g lasts seconds[g] plus its buffer copies.
[[nodiscard]] programs::StepInput step_input(const Scenario& scenario, const buckets::Plan& plan,
                                             std::span<const MessageSeconds> seconds,
                                             buckets::Schedule schedule);
// Adds one message per bucket of `plan` to a step without messages. The messages have no times yet
// (set_times()).
[[nodiscard]] programs::StepInput with_messages(programs::StepInput step, const Scenario& scenario,
                                                const buckets::Plan& plan,
                                                buckets::Schedule schedule);
// `seconds` and the time of copies; a message with an all-gather has half of that time in each
// part.
[[nodiscard]] MessageSeconds with_copies(const Scenario& scenario, const buckets::Group& group,
                                         MessageSeconds seconds, bool all_gathers);
// Sets the times of the messages of `step`, one per bucket of `plan`.
void set_times(const Scenario& scenario, const buckets::Plan& plan,
               std::span<const MessageSeconds> seconds, programs::StepInput& step);

} // namespace stepsim::study
