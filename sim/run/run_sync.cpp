// sync_sgd and everything that is a plan of messages, the same in every iteration:
//   merge problem -> plan (buckets) -> step (compute + messages) -> result
// Where workers differ every iteration has times of its own; buckets and layers are then those of
// equal workers.
#include "run/run_sync.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "buckets/planners.hpp"
#include "programs/step/selection.hpp"
#include "programs/step/varied_steps.hpp"
#include "run/best_merge.hpp"
#include "run/bucket_cost.hpp"
#include "run/period_bound.hpp"
#include "run/planned_messages.hpp"
#include "run/result_lists.hpp"
#include "run/run.hpp"
#include "run/run_figures.hpp"
#include "run/run_server_rounds.hpp"
#include "run/step_summary.hpp"
#include "run/stretched_step.hpp"

namespace stepsim::study {

namespace {

// Returns what selecting and encoding add to the compute stream.
double add_compression(const Scenario& scenario, const buckets::Plan& plan,
                       std::span<const BucketCost> costs, programs::StepInput& input) {
  const Communication& communication = scenario.communication;
  const bool side = communication.compression.select_stream == collectives::SelectStream::side;
  // A bucket is selected when the last of its gradients is ready, after the backward of its
  // frontmost layer; buckets come in order, so that the smallest layer so far is that one.
  auto lowest = static_cast<std::uint32_t>(input.backward_s.size() - 1);
  std::vector<programs::SelectionWork> work;
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    for (const std::uint32_t item : plan.groups[g].items) {
      lowest = std::min(lowest, scenario.workload.gradients[item].layer);
    }
    const double select = costs[g].compress_s();
    work.push_back({.layer = communication.overlap_backward ? lowest : 0,
                    .compute_s = costs[g].encode_s + (side ? 0 : select),
                    .side_s = side ? select : 0});
    input.update_s += costs[g].decode_s; // decoded where the update happens
  }
  return programs::add_selection(input, work);
}

// On a side stream only what lengthens a step without communication counts: the rest is hidden, as
// communication is.
void show_hidden_selection(const Scenario& scenario, programs::StepInput input, Summary& summary) {
  if (!is_compressed(scenario) || !summary.compress_s ||
      scenario.communication.compression.select_stream != collectives::SelectStream::side) {
    return;
  }
  for (programs::Message& message : input.messages) { // ready when their selection ends
    message.seconds = message.broadcast_s = message.startup_s = 0;
  }
  const double visible =
      std::min(programs::run_step(input).exposed_s, *summary.exposed_communication_s);
  summary.compress_s = visible;
  fill_communication(*summary.communication_s, *summary.exposed_communication_s - visible, summary);
}

// Buckets are listed as they were launched; `priority` keeps its chunks by urgency until here.
void sort_by_launch(buckets::Plan& plan, std::vector<BucketCost>& costs,
                    programs::StepTimes& step) {
  if (step.launch_order.empty()) {
    return;
  }
  const auto sorted = [&](auto& list) {
    auto copy = list;
    for (std::size_t i = 0; i < copy.size(); ++i) {
      copy[i] = std::move(list[step.launch_order[i]]);
    }
    list = std::move(copy);
  };
  sorted(plan.groups);
  sorted(costs);
  sorted(step.messages);
  step.launch_order.clear();
}

// Everything that is different when workers are.
void fill_varied(const Scenario& scenario, const buckets::Problem& problem,
                 const programs::StepInput& input, const programs::StepTimes& step,
                 const layers::Jitter& jitter, Result& result) {
  const std::int64_t iterations = scenario.training.iterations;
  const std::int64_t discard = discarded_iterations(scenario);
  Summary& summary = result.summary;
  const double bound_of_means = summary.lower_bound_s.value_or(
      step.forward_s + step.backward_s); // the law's factors left out
  const bool bounded = summary.lower_bound_s.has_value();
  const programs::VariedSteps varied = programs::run_varied_steps(
      input, jitter, iterations, discard,
      bounded ? message_bounds(scenario, problem).value_or(programs::MessageBounds{})
              : programs::MessageBounds{});
  // Parts of the compute time grow by one factor, that of the slowest worker, which everybody waits
  // for.
  const double nominal = step.forward_s + step.backward_s + step.update_s;
  const double slowest = nominal > 0 ? varied.compute_s / nominal : 1;
  for (std::optional<double>* part :
       {&summary.forward_s, &summary.backward_s, &summary.update_s, &summary.codec_compute_s,
        &summary.compute_s, &summary.select_s, &summary.residual_s, &summary.compress_s}) {
    if (*part) {
      **part *= slowest;
    }
  }
  summary.iteration_time_s = varied.period_s;
  summary.input_wait_s = varied.input_wait_s;
  fill_communication(varied.communication_s, varied.exposed_s, summary);
  summary.straggler_wait_s = varied.straggler_wait_s;
  summary.makespan_s = varied.makespan_s;
  fill_speedup(scenario, alone_seconds(scenario, jitter, discard, iterations - 1, true),
               varied.period_s, summary);
  if (bounded) { // counts the factors drawn
    summary.lower_bound_s = bound_of(varied.lower_bound_s, varied.period_s);
  }
  if (has_server_rounds(scenario) && !needs_server_rounds(scenario)) {
    result.warnings.push_back(
        "method " + std::string(collectives::name(*scenario.method)) +
        ": every exchange starts when the last worker is ready; method auto times each push as it "
        "comes to the server, which differs where workers do");
  }
  warn_below_bound(scenario, bound_of_means, result);
  if (varied.straggler_wait_s > kStragglerShare * varied.period_s) {
    summary.bottleneck = "straggler";
  }
  for (std::size_t k = 0; k < varied.iterations.size(); ++k) {
    const programs::VariedIteration& each = varied.iterations[k];
    Iteration& iteration = result.iterations[k];
    iteration.start_s = each.start_s;
    iteration.compute_end_s = each.compute_end_s;
    iteration.exchange_start_s = each.exchange_start_s;
    iteration.exchange_end_s = each.exchange_end_s;
    iteration.iteration_time_s = each.period_s;
    iteration.exposed_communication_s = each.exposed_s;
  }
  for (std::size_t w = 0; w < varied.workers.size(); ++w) {
    result.workers.push_back({.worker = static_cast<std::int64_t>(w),
                              .compute_s = varied.workers[w].compute_s,
                              .straggler_wait_s = varied.workers[w].straggler_wait_s,
                              .transfer_s = varied.communication_s});
  }
  fill_interval(scenario, result);
  result.warnings.emplace_back(kEqualWorkers);
}

// What computing takes by itself stays apart from what overlap costs. The best merge is that of
// steps without slowdown. The first iteration follows no exchange that could slow it.
void count_slowdown(const Scenario& scenario, const programs::StepTimes& free,
                    const programs::StepTimes& step, double first_shift_s, Result& result) {
  Summary& summary = result.summary;
  *summary.forward_s += free.forward_s - step.forward_s;
  *summary.backward_s += free.backward_s - step.backward_s;
  *summary.compute_s += free.forward_s + free.backward_s - step.forward_s - step.backward_s;
  summary.interference_s = std::max(0.0, step.period_s - free.period_s);
  *summary.makespan_s -= first_shift_s;
  summary.merge_certified_optimal.reset();
  for (Iteration& iteration : result.iterations) {
    iteration.start_s -= iteration.index > 0 ? first_shift_s : 0;
    for (double* time :
         {&iteration.compute_end_s, &iteration.exchange_start_s, &iteration.exchange_end_s}) {
      *time -= first_shift_s;
    }
  }
  if (!scenario.method) { // else it says how exchanges are timed
    result.method = collectives::name(collectives::Method::events);
  }
}

// What the channel is busy for, per message.
std::vector<MessageSeconds> message_times(const buckets::Problem& problem,
                                          std::span<const BucketCost> costs,
                                          buckets::Schedule schedule) {
  std::vector<MessageSeconds> seconds;
  seconds.reserve(costs.size());
  for (const BucketCost& cost : costs) {
    seconds.push_back(message_seconds(problem, cost, schedule));
  }
  return seconds;
}

template <class Value> void release(Value& value) { value = Value(); }

// The result without its scenario. A list per layer or message that nobody reads any more is
// released before the lists of the result grow.
Result step_result(const Scenario& scenario, Detail detail) {
  buckets::Problem problem = merge_problem(scenario);
  buckets::Plan plan = plan_of(scenario, problem);
  const buckets::Schedule schedule = scenario.communication.schedule;
  BucketCosts bucket_costs(scenario, measured_curve(scenario));
  std::vector<BucketCost> costs;
  costs.reserve(plan.groups.size());
  for (const buckets::Group& group : plan.groups) {
    costs.push_back(bucket_costs(group));
  }
  programs::StepInput bare = step_input(scenario);
  programs::StepInput input = with_messages(bare, scenario, plan, schedule);
  set_times(scenario, plan, message_times(problem, costs, schedule), input);
  const double added = is_compressed(scenario) ? add_compression(scenario, plan, costs, input) : 0;
  programs::StepTimes step = programs::run_step(input);
  std::optional<programs::StepTimes> free; // of a step that overlap does not slow
  double first_shift_s = 0;
  if (scenario.training.overlap.any() && !input.messages.empty()) {
    free = step;
    StretchedStep stretched = stretched_step(scenario, std::move(input));
    input = std::move(stretched.input);
    first_shift_s = stretched.first_shift_s;
    step = programs::run_step(input);
    step.exposed_s = free->exposed_s + std::max(0.0, step.period_s - free->period_s);
  }

  Result result;
  result.exchange_method = bucket_costs.method();
  result.method = collectives::name(bucket_costs.method());
  result.events = bucket_costs.events();
  add_common_warnings(scenario, plan, result);
  result.summary =
      summarize(scenario, problem, plan, step, costs, added, programs::run_step(bare).period_s);
  // The costs are the longest list: where their order is that of the buckets, and no link asks for
  // them, the buckets are made at once.
  const bool at_once = step.launch_order.empty() && !scenario.cluster.fabric;
  if (at_once && detail == Detail::all) {
    result.buckets = bucket_list(scenario, plan, step, costs);
    release(costs);
  }
  if (!is_compressed(scenario) && detail != Detail::period) {
    fill_greedy(scenario, problem, plan, result.summary);
    if (!free && !scenario.variability.varies()) { // nothing was added to the times of `input`
      fill_optimum(scenario, problem, plan, bare, input, bucket_costs, result.summary);
    }
  }
  release(bare);
  if (!at_once && detail == Detail::all) {
    sort_by_launch(plan, costs, step);
    result.buckets = bucket_list(scenario, plan, step, costs);
  }
  release(plan);
  result.iterations = iteration_list(scenario, step);
  if (scenario.variability.varies()) {
    fill_varied(scenario, problem, input, step, jitter_of(scenario), result);
  }
  release(problem);
  if (free) {
    count_slowdown(scenario, *free, step, first_shift_s, result);
  }
  show_hidden_selection(scenario, input, result.summary);
  if (detail != Detail::all) {
    return result;
  }
  release(input.messages);
  fill_links(scenario, costs, result);
  release(costs);
  result.layers = layer_list(scenario, input, step);
  result.step = std::move(step);
  return result;
}

} // namespace

// The scenario is copied last, because it may hold many layers, too.
Result run_sync(const Scenario& scenario, Detail detail) {
  Result result = step_result(scenario, detail);
  if (detail == Detail::all) {
    result.scenario = scenario;
  }
  return result;
}

SyncParts::SyncParts(const Scenario& scenario)
    : bare_(step_input(scenario)), alone_s_(programs::run_step(bare_).period_s) {
  problem_.items = merge_items(scenario);
}

Result SyncParts::summary(const Scenario& scenario) {
  const buckets::Schedule schedule = scenario.communication.schedule;
  problem_.cost = merge_cost(scenario);
  const bool fixed = !buckets::planner(schedule).reads_cost;
  if (!plan_ || !fixed) {
    plan_ = plan_of(scenario, problem_);
    step_ = with_messages(bare_, scenario, *plan_, schedule);
  } else {
    check_range(problem_);
  }
  BucketCosts bucket_costs(scenario, std::nullopt);
  bucket_costs.share(sent_);
  std::vector<BucketCost> costs;
  costs.reserve(plan_->groups.size());
  for (const buckets::Group& group : plan_->groups) {
    costs.push_back(bucket_costs.counted(group));
  }
  set_times(scenario, *plan_, message_times(problem_, costs, schedule), step_);
  const programs::StepTimes step = programs::run_step(step_);

  Result result;
  result.scenario.variability = scenario.variability;
  result.exchange_method = bucket_costs.method();
  result.method = collectives::name(bucket_costs.method());
  add_common_warnings(scenario, *plan_, result);
  result.summary = summarize(scenario, problem_, *plan_, step, costs, 0, alone_s_);
  fill_greedy(scenario, problem_, *plan_, result.summary);
  if (scenario.variability.varies()) {
    result.iterations = iteration_list(scenario, step);
    const bool known = jitter_ && jitter_->workers() == scenario.cluster.ranks() &&
                       jitter_->variability().seed == scenario.variability.seed;
    if (!known) {
      jitter_.emplace(jitter_of(scenario));
    }
    fill_varied(scenario, problem_, step_, step, *jitter_, result);
  } else {
    fill_optimum(scenario, problem_, *plan_, bare_, step_, bucket_costs, result.summary);
  }
  return result;
}

} // namespace stepsim::study
