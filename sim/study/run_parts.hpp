#pragma once
// The pieces that `run` puts together. Internal to study.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/problem.hpp"
#include "study/result.hpp"
#include "study/run.hpp"
#include "study/scenario.hpp"
#include "train/parameter_server.hpp"
#include "train/step.hpp"

namespace stepsim::study {

// The ways to run a scenario; `run` picks one. Limits and what compares with dense runs are there.
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

// Whether the run is a job whose messages go through the simulated network one by one: packets, and
// flows where messages overlap (parameter servers, priority). Otherwise one exchange at a time is
// on the network, and its time depends on its size alone.
[[nodiscard]] bool simulates_messages(const Scenario& scenario);
[[nodiscard]] Result run_network(const Scenario& scenario);

// What they share.
struct BucketCost;
// The curve that stands for the evaluators, free for one worker; empty without one.
[[nodiscard]] std::optional<plan::Cost> measured_curve(const Scenario& scenario);
// Warnings of the workload, the scenario, the plan and the calibration's range.
void add_common_warnings(const Scenario& scenario, const plan::Plan& plan, Result& result);
// forward_s, backward_s and update_s of the workload; returns their sum, the iteration of one
// worker alone.
double fill_work(const Scenario& scenario, Summary& summary);
// communication_s, exposed_communication_s and overlap_fraction, 1 where nothing is sent.
void fill_communication(double communication_s, double exposed_s, Summary& summary);
// staleness_mean, _max and _histogram.
void fill_staleness(const train::StalenessCounts& staleness, Summary& summary);
// speedup, scaling_efficiency and samples_per_s of workers that each take `period_s` per iteration,
// against one worker that takes `single_s`.
void fill_speedup(const Scenario& scenario, double single_s, double period_s, Summary& summary);
// 95 % interval of the iteration time from batch means of `iterations`; random variation only.
void fill_interval(const Scenario& scenario, Result& result);
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
  double broadcast{}; // of reduce_broadcast; the all-gather of dear
  double startup{};   // part of `exchange` that other messages do not slow; asc_wfbp, priority
};

// Copies in and out of a merged buffer (MER 4.4).
[[nodiscard]] double copy_seconds(const Communication& communication, const plan::Group& group);
// The plan of the scenario's schedule.
[[nodiscard]] plan::Plan plan_of(const Scenario& scenario, const plan::Problem& problem);
// Messages are reduce-scatters, each with an all-gather of its own (dear): those of a ring as
// evaluators know them, where the second is true; otherwise two halves of an all-reduce.
[[nodiscard]] bool has_all_gathers(const Scenario& scenario);
[[nodiscard]] bool splits_exchange(const Scenario& scenario);
// The messages of a plan by the cost that its planner sees.
[[nodiscard]] std::vector<MessageSeconds> planned_seconds(const Scenario& scenario,
                                                          const plan::Problem& problem,
                                                          const plan::Plan& plan,
                                                          plan::Schedule schedule);
// Start-up of a message that takes `seconds`, 0 where the cost is not linear.
[[nodiscard]] double startup_seconds(const plan::Problem& problem, double seconds);

// The operation of the first exchange: allreduce, or reduce with reduce_broadcast.
[[nodiscard]] coll::Op exchange_op(const Communication& communication);

// Everything of a step but its messages: one worker of its own.
[[nodiscard]] train::StepInput step_input(const Scenario& scenario);
// With the messages of a plan of `schedule`, `seconds` per group; copies are added here.
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
