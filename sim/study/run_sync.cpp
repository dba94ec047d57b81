// sync_sgd and everything that is a plan of messages on one channel, the same in every iteration:
//   merge problem -> plan (buckets) -> step (compute + messages) -> result
#include <algorithm>

#include "study/bucket_cost.hpp"
#include "study/run_parts.hpp"

namespace stepsim::study {

namespace {

// Selecting (or encoding) a bucket takes place when its last gradient exists: on the compute stream
// it delays the rest of backward, on a side stream only its own message (SPA 5).
//     backward |-3-|sel 3|-2-|-1-|sel 2,1|
//     messages           |==3==|          |==2,1==|
// Returns the seconds added to the compute stream.
double add_selection(const Scenario& scenario, const plan::Plan& plan,
                     std::span<const BucketCost> costs, train::StepInput& input) {
  const Communication& communication = scenario.communication;
  const bool side = communication.compression.select_stream == coll::SelectStream::side;
  std::size_t lowest = input.backward_s.empty() ? 0 : input.backward_s.size() - 1;
  double delay = 0;
  double side_free = 0;
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    for (const std::uint32_t item : plan.groups[g].items) {
      lowest = std::min<std::size_t>(lowest, scenario.workload.gradients[item].layer);
    }
    const std::size_t layer = communication.overlap_backward ? lowest : 0;
    const double on_compute = costs[g].encode_s + (side ? 0 : costs[g].compress_s());
    delay += on_compute;
    input.backward_s[layer] += on_compute;
    double ready = plan.groups[g].ready.value + delay;
    if (side && costs[g].compress_s() > 0) {
      side_free = std::max(side_free, ready) + costs[g].compress_s();
      ready = side_free;
    }
    input.messages[g].ready_s = ready;
    input.update_s += costs[g].decode_s; // decoded where the update happens
  }
  return delay;
}

} // namespace

Result run_sync(const Scenario& scenario) {
  const Communication& communication = scenario.communication;
  const plan::Problem problem = merge_problem(scenario);
  const plan::Plan plan =
      plan::make_plan(problem, communication.schedule, communication.schedule_options);
  BucketCosts bucket_costs(scenario, measured_curve(scenario));
  std::vector<BucketCost> costs;
  std::vector<MessageSeconds> seconds;
  for (const plan::Group& group : plan.groups) {
    const BucketCost& cost = costs.emplace_back(bucket_costs(group));
    seconds.push_back({cost.exchange_s(), cost.broadcast_s});
  }
  train::StepInput input = step_input(scenario, plan, seconds);
  const double added = is_compressed(scenario) ? add_selection(scenario, plan, costs, input) : 0;
  const train::StepTimes step = train::run_step(input);

  Result result;
  result.scenario = scenario;
  result.method = coll::name(bucket_costs.method());
  result.events = bucket_costs.events();
  add_common_warnings(scenario, plan, result);
  result.summary = summarize(scenario, problem, plan, step, costs, added);
  if (is_compressed(scenario) && bucket_costs.method() == coll::Method::closed_form) {
    result.summary.closed_form_s = step.period_s;
  }
  result.buckets = bucket_list(scenario, plan, step, costs);
  result.layers = layer_list(scenario, input, step);
  result.iterations = iteration_list(scenario, step);
  result.step = step;
  return result;
}

} // namespace stepsim::study
