// Gradients become ready as backward passes their layers, from the last to the first. A gradient
// waits for the whole backward pass where communication may not overlap with it.
#include "scenario/merge_problem.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "plan/planners.hpp"
#include "scenario/compression/compressed_cost.hpp"
#include "scenario/scenario_library.hpp"
#include "train/step/exchange_times.hpp"

namespace stepsim::study {

namespace {

// Every message takes startup + bytes per_byte longer.
// Linear costs stay linear, because some planners need that; others are wrapped. An empty message
// costs nothing and gets nothing.
plan::Cost with_extra(plan::Cost cost, const plan::LinearCost& extra) {
  if (auto* linear = std::get_if<plan::LinearCost>(&cost.base)) {
    linear->startup_s += extra.startup_s;
    linear->per_byte_s += extra.per_byte_s;
    return cost;
  }
  const auto least = [cost, extra](double low, double high) {
    const auto* curve = std::get_if<plan::CurveCost>(&cost.base);
    const plan::LinearCost line =
        curve != nullptr && curve->least ? curve->least(low, high) : plan::LinearCost{};
    return plan::LinearCost{line.startup_s + extra.startup_s, line.per_byte_s + extra.per_byte_s};
  };
  return {.base = plan::CurveCost{.seconds =
                                      [cost, extra](double bytes) {
                                        const double more =
                                            extra.startup_s + extra.per_byte_s * bytes;
                                        return bytes > 0 ? cost.seconds(bytes, 1) + more : 0.0;
                                      },
                                  .least = least}};
}

// A dense message: a measured curve; where start-up and data must be separable or `by_formula`, the
// closed form (of the schedule, where the run evaluates that); else as the run evaluates it.
plan::Cost dense_cost(const Scenario& scenario, bool by_formula) {
  if (!exchanges(scenario)) {
    return {.base = plan::LinearCost{}};
  }
  const Network& network = scenario.cluster.network;
  if (const auto& curve = network.planned_curve ? network.planned_curve : network.curve) {
    const bool bends = scenario.communication.question &&
                       plan::planner(scenario.communication.schedule).needs_linear_cost();
    return bends ? plan::Cost{.base = tangent(*curve, mean_message(scenario))} : *curve;
  }
  coll::Collective exchange = exchange_of(scenario);
  if (by_formula) {
    return train::planner_cost(exchange);
  }
  const bool separable = plan::planner(scenario.communication.schedule).needs_linear_cost();
  if (!separable) {
    return train::merge_cost(exchange, scenario.method);
  }
  if (scenario.method && *scenario.method != coll::Method::closed_form) { // not the printed form
    exchange.options.cost_form = coll::CostForm::exact;
    exchange.options.ring_startup_2p = false;
  }
  const bool bends =
      exchange.links.fabric && plan::planner(scenario.communication.schedule).reads_cost;
  const plan::Cost cost = train::planner_cost(exchange);
  return bends ? plan::Cost{.base = tangent(cost, mean_message(scenario))} : cost;
}

// What the planner sees of one message.
plan::Cost channel_cost(const Scenario& scenario, bool by_formula) {
  if (is_compressed(scenario)) {
    return compressed_cost(scenario);
  }
  plan::Cost cost = dense_cost(scenario, by_formula);
  const plan::LinearCost extra = extra_cost(scenario);
  if (extra.startup_s > 0 || extra.per_byte_s > 0) {
    cost = with_extra(std::move(cost), extra);
  }
  const bool merges = scenario.communication.schedule != plan::Schedule::priority; // cuts chunks
  if (merges && exchanges(scenario)) {
    cost.copy_bandwidth_Bps = scenario.communication.copy_bandwidth_Bps;
  }
  return cost;
}

} // namespace

// Element types become numbers in the order of first use: planners only ask whether two are equal.
std::vector<plan::Item> merge_items(const Scenario& scenario) {
  const train::Workload& workload = scenario.workload;
  std::vector<plan::Item> items;
  std::vector<Seconds> layer_ready(workload.layers.size());
  Seconds t;
  for (std::size_t l = workload.layers.size(); l-- > 0;) {
    t += workload.layers[l].backward;
    layer_ready[l] = t;
  }
  std::map<std::string, std::uint32_t> dtypes;
  std::int64_t position = 0;
  const auto count = static_cast<std::int64_t>(workload.gradients.size());
  items.reserve(workload.gradients.size());
  for (const train::Gradient& gradient : workload.gradients) {
    const auto dtype =
        dtypes.try_emplace(gradient.dtype, static_cast<std::uint32_t>(dtypes.size()));
    items.push_back(
        {.ready = scenario.communication.overlap_backward ? layer_ready[gradient.layer] : t,
         .bytes = gradient.bytes,
         .elements = gradient.elements,
         .dtype = dtype.first->second,
         .layer = gradient.layer,
         .ready_order = gradient.measured_order ? position : count - 1 - gradient.registration,
         .registration = gradient.registration,
         .bucket = gradient.bucket});
    ++position;
  }
  if (items.empty()) { // no layer has a gradient: one that sends nothing
    items.push_back({.ready = t, .bytes = Bytes{0}});
  }
  return items;
}

plan::Cost merge_cost(const Scenario& scenario) { return channel_cost(scenario, false); }

plan::Problem merge_problem(const Scenario& scenario) {
  return {.items = merge_items(scenario), .cost = merge_cost(scenario), .channel_free = {}};
}

plan::Problem as_planned(const Scenario& scenario, plan::Problem problem) {
  if (const auto& cost = scenario.communication.plan_cost) {
    problem.cost = {.base = *cost};
  }
  return problem;
}

// A curve is a cost that no line replaces, whoever asks for it.
plan::Cost formula_cost(const Scenario& scenario, const plan::Cost& merged) {
  plan::Cost cost = channel_cost(scenario, true);
  const bool same = std::holds_alternative<plan::CurveCost>(cost.base) &&
                    !plan::planner(scenario.communication.schedule).needs_linear_cost();
  return same ? merged : cost;
}

} // namespace stepsim::study
