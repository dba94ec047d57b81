// sync_sgd and everything that is a plan of messages on one channel, the same in every iteration:
//   merge problem -> plan (buckets) -> step (compute + messages) -> result
#include <algorithm>

#include "study/bucket_cost.hpp"
#include "study/run_parts.hpp"
#include "train/selection.hpp"

namespace stepsim::study {

namespace {

// Returns what selecting and encoding add to the compute stream.
double add_compression(const Scenario& scenario, const plan::Plan& plan,
                       std::span<const BucketCost> costs, train::StepInput& input) {
  const Communication& communication = scenario.communication;
  const bool side = communication.compression.select_stream == coll::SelectStream::side;
  auto lowest = static_cast<std::uint32_t>(input.backward_s.size() - 1);
  std::vector<train::SelectionWork> work;
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
  return train::add_selection(input, work);
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
  const double added = is_compressed(scenario) ? add_compression(scenario, plan, costs, input) : 0;
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
