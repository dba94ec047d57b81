#pragma once
// The pieces that `run` puts together. Internal to study.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/statistics.hpp"
#include "plan/planners.hpp"
#include "plan/problem.hpp"
#include "run/result.hpp"
#include "run/run.hpp"
#include "scenario/scenario.hpp"
#include "train/step/parameter_server.hpp"
#include "train/step/step.hpp"
#include "train/step/varied_steps.hpp"

namespace stepsim::study {

// One function per training algorithm; `run` dispatches, then applies the time limit and the dense
// comparison.
[[nodiscard]] Result run_sync(const Scenario& scenario);
[[nodiscard]] Result run_pipeline(const Scenario& scenario);
[[nodiscard]] Result run_async_server(const Scenario& scenario);
// parameter_server, sync, in one message, with workers that differ.
[[nodiscard]] bool needs_server_rounds(const Scenario& scenario);
[[nodiscard]] Result run_server_rounds(const Scenario& scenario);
// What the asynchronous server simulates, for the order of its updates.
[[nodiscard]] train::AsyncInput async_input(const Scenario& scenario);

// From this share of the iteration on, waiting for slower workers is the bottleneck.
inline constexpr double kStragglerShare = 0.1;

[[nodiscard]] Result run_network(const Scenario& scenario);

// What they share.
struct BucketCost;
// The curve that stands for the evaluators, free for one worker; empty without one.
[[nodiscard]] std::optional<plan::Cost> measured_curve(const Scenario& scenario);
// Warnings of the workload, the scenario, the plan and the calibration's range.
void add_common_warnings(const Scenario& scenario, const plan::Plan& plan, Result& result);
// forward_s, backward_s and update_s of the workload, with `codec_s` codec_compute_s and compute_s;
// in proportion, so that all of them add up to `compute_s`, what the run spends on computing.
void fill_work(const Scenario& scenario, double codec_s, double compute_s, Summary& summary);
// The iteration of one worker alone with the factors drawn in iterations first..last (from 0).
// `to_next_backward`: as synchronous steps count, else forward and backward belong together.
[[nodiscard]] double alone_seconds(const Scenario& scenario, std::int64_t first, std::int64_t last,
                                   bool to_next_backward);
// communication_s, exposed_communication_s and overlap_fraction, 1 where nothing is sent.
void fill_communication(double communication_s, double exposed_s, Summary& summary);
// staleness_mean, _max and _histogram.
void fill_staleness(const train::StalenessCounts& staleness, Summary& summary);
// speedup, scaling_efficiency and samples_per_s of workers that each take `period_s` per iteration,
// against one worker that takes `single_s`. The efficiency is at most 1: a mean over few iterations
// may leave out work that the baseline has, which is at most the period then.
void fill_speedup(const Scenario& scenario, double single_s, double period_s, Summary& summary);
// 95 % interval of the iteration time from batch means of `iterations`; random variation only.
void fill_interval(const Scenario& scenario, Result& result);
// The interval, but not below what the slowest worker (asynchronous: the fastest) computes with the
// least factor of the law, and not above or below the mean.
void set_interval(const Scenario& scenario, base::Interval interval, Summary& summary);
// A warning where random factors or fast workers make the iteration shorter than `bound_s`, which
// holds for mean times.
void warn_below_bound(double bound_s, Result& result);
// What the messages of an iteration hold the channel for at least; empty where no bound is known.
[[nodiscard]] std::optional<train::MessageBounds> message_bounds(const Scenario& scenario,
                                                                 const plan::Problem& problem);
// Of the period of equal workers with mean times.
[[nodiscard]] std::optional<double> period_lower_bound(const Scenario& scenario,
                                                       const plan::Problem& problem);
// `bound_s`, but not above `time_s` by rounding.
[[nodiscard]] double bound_of(double bound_s, double time_s);
// The best merge, evaluated as the run is, and the period by formula.
class BucketCosts;
// Sets the iteration time of the best merge, and the distance to it for schedules that send one
// message at a time. `best_s`: iteration time of the best merge, s.
void compare_with_optimum(plan::Schedule schedule, double best_s, Summary& summary);
void fill_merge(const Scenario& scenario, const plan::Problem& problem, const plan::Plan& plan,
                BucketCosts& costs, Summary& summary);
// Buckets without times.
[[nodiscard]] std::vector<Bucket> plain_buckets(const Scenario& scenario, const plan::Plan& plan,
                                                std::span<const BucketCost> costs);
// Which part of the messages takes longest: latency, bandwidth, reduction or compression.
[[nodiscard]] std::string largest_part(const Scenario& scenario, const plan::Plan& plan,
                                       std::span<const BucketCost> costs);
// The use of every link by all iterations, where buckets went over a fabric one by one.
void fill_links(std::span<const BucketCost> costs, Result& result);
// select_s .. k of the summary; nothing for dense exchanges.
void fill_compression(const Scenario& scenario, std::span<const BucketCost> costs,
                      Summary& summary);

// How long one message of the plan holds the channel, copies left out.
struct MessageSeconds {
  double exchange{};  // all-reduce, or the reduce of reduce_broadcast
  double broadcast{}; // of reduce_broadcast; the all-gather of DeAR
  double startup{};   // part of `exchange` that other messages do not slow; asc_wfbp, priority
};

// Copies in and out of a merged buffer (MER 4.4); empty gradients are not merged.
[[nodiscard]] double copy_seconds(const Scenario& scenario, const plan::Group& group);
// Infinite times are an error wherever they are met.
inline constexpr std::string_view kBeyondNumbers =
    "the times of the run are beyond the range of numbers";
// Throws SimulationError where gradients or messages take longer than numbers can say.
void check_range(const plan::Problem& problem);
// The plan of the scenario's schedule; checks the range.
[[nodiscard]] plan::Plan plan_of(const Scenario& scenario, const plan::Problem& problem);
// Messages are reduce-scatters, each with an all-gather of its own (DeAR): those of a ring as
// evaluators know them, where the second is true; otherwise two halves of an all-reduce.
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

// Everything of a step but its messages: one worker of its own.
[[nodiscard]] train::StepInput step_input(const Scenario& scenario);
// The step with one message per bucket of `plan`; bucket g lasts seconds[g] plus its buffer copies.
[[nodiscard]] train::StepInput step_input(const Scenario& scenario, const plan::Plan& plan,
                                          std::span<const MessageSeconds> seconds,
                                          plan::Schedule schedule);

// Lists of the result.
[[nodiscard]] std::vector<Bucket> bucket_list(const Scenario& scenario, const plan::Plan& plan,
                                              const train::StepTimes& step,
                                              std::span<const BucketCost> costs);
[[nodiscard]] std::vector<LayerResult>
layer_list(const Scenario& scenario, const train::StepInput& input, const train::StepTimes& step);
[[nodiscard]] std::vector<Iteration> iteration_list(const Scenario& scenario,
                                                    const train::StepTimes& step);

// `added_s`: selecting and encoding on the compute stream, part of the step's backward.
[[nodiscard]] Summary summarize(const Scenario& scenario, const plan::Problem& problem,
                                const plan::Plan& plan, const train::StepTimes& step,
                                std::span<const BucketCost> costs, double added_s);

} // namespace stepsim::study
