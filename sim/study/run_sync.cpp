// sync_sgd and everything that is a plan of messages on one channel, the same in every iteration:
//   merge problem -> plan (buckets) -> step (compute + messages) -> result
#include "study/run.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/number_text.hpp"
#include "study/run_parts.hpp"
#include "train/exchange.hpp"

namespace stepsim::study {

namespace {

void append(std::vector<std::string>& all, const std::vector<std::string>& some) {
  all.insert(all.end(), some.begin(), some.end());
}

// The largest ratio by which ranks or a message lie outside what the calibration covers.
std::optional<double> extrapolation_factor(const Network& network, std::int64_t ranks,
                                           const plan::Plan& plan) {
  if (!network.valid_ranks && !network.valid_bytes) {
    return std::nullopt;
  }
  double factor = 1;
  const auto include = [&](const std::optional<std::pair<double, double>>& range, double value) {
    if (range && value > 0) {
      factor = std::max({factor, value / range->second, range->first / value});
    }
  };
  include(network.valid_ranks, static_cast<double>(ranks));
  for (const plan::Group& group : plan.groups) {
    include(network.valid_bytes, static_cast<double>(group.bytes.value));
  }
  return factor;
}

} // namespace

Result run_sync(const Scenario& scenario) {
  const Communication& communication = scenario.communication;
  const plan::Problem problem = merge_problem(scenario);
  const plan::Plan plan =
      plan::make_plan(problem, communication.schedule, communication.schedule_options);

  // Every message by the evaluator of the run, or by the measured curve that stands for it.
  std::optional<plan::Cost> curve;
  if (scenario.cluster.network.curve) {
    curve = plan::Cost{.base = problem.cost.base};
  }
  coll::Collective exchange = exchange_of(scenario);
  train::ExchangeTimes exchange_times(exchange, scenario.method, curve);
  exchange.op = coll::Op::broadcast;
  train::ExchangeTimes broadcast_times(exchange, scenario.method, curve);
  std::vector<MessageSeconds> seconds;
  std::vector<std::string> algorithms;
  double wire_bytes = 0;
  for (const plan::Group& group : plan.groups) {
    const train::Exchange& message = exchange_times(group.bytes);
    seconds.push_back({message.seconds, 0});
    wire_bytes += message.max_bytes_sent;
    algorithms.emplace_back(communication.calibrated ? "calibrated"
                                                     : coll::name(message.algorithm));
    if (communication.reduce_broadcast) {
      const train::Exchange& back = broadcast_times(group.bytes);
      seconds.back().broadcast = back.seconds;
      wire_bytes += back.max_bytes_sent;
    }
  }
  const train::StepTimes step = train::run_step(step_input(scenario, plan, seconds));

  Result result;
  result.scenario = scenario;
  result.method = coll::name(std::max(exchange_times.method(), broadcast_times.method()));
  result.events = exchange_times.events() + broadcast_times.events();
  append(result.warnings, scenario.workload.warnings);
  append(result.warnings, scenario.warnings);
  append(result.warnings, plan.warnings);
  if (scenario.cluster.ranks() == 1) {
    result.warnings.emplace_back("one worker: no communication");
  }
  result.extrapolation_factor =
      extrapolation_factor(scenario.cluster.network, scenario.cluster.ranks(), plan);
  if (result.extrapolation_factor.value_or(1) > 1) {
    result.warnings.push_back(
        "ranks or message sizes lie outside the range of the calibration, by " +
        base::significant(*result.extrapolation_factor, 3) + " times at most: extrapolated");
  }
  result.summary = summarize(scenario, problem, plan, step, wire_bytes);
  result.buckets = bucket_list(scenario, plan, step, algorithms);
  result.layers = layer_list(scenario, step);
  result.iterations = iteration_list(scenario, step);
  result.step = step;
  return result;
}

} // namespace stepsim::study
