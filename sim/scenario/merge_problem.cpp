// Gradients become ready as backward passes their layers, from the last to the first. A gradient
// waits for the whole backward pass where communication may not overlap with it.
#include "scenario/scenario_exchange.hpp"

#include "programs/step/exchange_times.hpp"
#include "scenario/compression/scenario_compression.hpp"
#include "scenario/scenario_library.hpp"

namespace stepsim::study {

namespace {

// Every message takes startup + bytes per_byte longer.
// Linear costs stay linear, because some planners need that; others are wrapped. An empty message
// costs nothing and gets nothing.
buckets::Cost with_extra(buckets::Cost cost, const buckets::LinearCost& extra) {
  if (auto* linear = std::get_if<buckets::LinearCost>(&cost.base)) {
    linear->startup_s += extra.startup_s;
    linear->per_byte_s += extra.per_byte_s;
    return cost;
  }
  const auto least = [cost, extra](double low, double high) {
    const auto* curve = std::get_if<buckets::CurveCost>(&cost.base);
    const buckets::LinearCost line =
        curve != nullptr && curve->least ? curve->least(low, high) : buckets::LinearCost{};
    return buckets::LinearCost{line.startup_s + extra.startup_s,
                               line.per_byte_s + extra.per_byte_s};
  };
  return {.base = buckets::CurveCost{.seconds =
                                         [cost, extra](double bytes) {
                                           const double more =
                                               extra.startup_s + extra.per_byte_s * bytes;
                                           return bytes > 0 ? cost.seconds(bytes, 1) + more : 0.0;
                                         },
                                     .least = least}};
}

// A dense message: a measured curve; where start-up and data must be separable or `by_formula`, the
// closed form (of the schedule, where the run evaluates that); else as the run evaluates it.
buckets::Cost dense_cost(const Scenario& scenario, bool by_formula) {
  if (!exchanges(scenario)) {
    return {.base = buckets::LinearCost{}};
  }
  const Network& network = scenario.cluster.network;
  if (const auto& curve = network.planned_curve ? network.planned_curve : network.curve) {
    const bool bends = scenario.communication.question &&
                       buckets::planner(scenario.communication.schedule).needs_linear_cost();
    return bends ? buckets::Cost{.base = tangent(*curve, mean_message(scenario))} : *curve;
  }
  collectives::Collective exchange = exchange_of(scenario);
  if (by_formula) {
    return programs::planner_cost(exchange);
  }
  const bool separable = buckets::planner(scenario.communication.schedule).needs_linear_cost();
  if (!separable) {
    return programs::merge_cost(exchange, scenario.method);
  }
  if (is_star(scenario)) {
    return dense_cost(on_alpha_beta(scenario), by_formula);
  }
  if (scenario.method &&
      *scenario.method != collectives::Method::closed_form) { // not the printed form
    exchange.options.cost_form = collectives::CostForm::exact;
    exchange.options.ring_startup_2p = false;
  }
  const bool bends =
      exchange.links.fabric && buckets::planner(scenario.communication.schedule).reads_cost;
  const buckets::Cost cost = programs::planner_cost(exchange);
  return bends ? buckets::Cost{.base = tangent(cost, mean_message(scenario))} : cost;
}

// What the planner sees of one message.
buckets::Cost channel_cost(const Scenario& scenario, bool by_formula) {
  if (is_compressed(scenario)) {
    return compressed_cost(scenario);
  }
  buckets::Cost cost = dense_cost(scenario, by_formula);
  const buckets::LinearCost extra = extra_cost(scenario);
  if (extra.startup_s > 0 || extra.per_byte_s > 0) {
    cost = with_extra(std::move(cost), extra);
  }
  const bool merges = scenario.communication.schedule != buckets::Schedule::priority; // cuts chunks
  if (merges && exchanges(scenario)) {
    cost.copy_bandwidth_Bps = scenario.communication.copy_bandwidth_Bps;
  }
  return cost;
}

} // namespace

// Element types become numbers in the order of first use: planners only ask whether two are equal.
std::vector<buckets::Item> merge_items(const Scenario& scenario) {
  const layers::Workload& workload = scenario.workload;
  std::vector<buckets::Item> items;
  std::vector<std::int64_t> group_of(workload.layers.size(), -1); // with schedule groups
  const bool in_groups = scenario.communication.schedule == buckets::Schedule::groups;
  const auto& groups = scenario.communication.schedule_options.groups;
  for (std::size_t g = 0; in_groups && g < groups.size(); ++g) {
    for (const std::uint32_t layer : groups[g]) {
      group_of[layer] = static_cast<std::int64_t>(g);
    }
  }
  const std::vector<Seconds> ends = workload.backward_ends();
  std::map<std::string, std::uint32_t> dtypes;
  auto dtype = dtypes.end(); // of the gradient before
  std::int64_t position = 0;
  const auto count = static_cast<std::int64_t>(workload.gradients.size());
  items.reserve(workload.gradients.size());
  for (const layers::Gradient& gradient : workload.gradients) {
    if (dtype == dtypes.end() || dtype->first != gradient.dtype) {
      dtype = dtypes.try_emplace(gradient.dtype, static_cast<std::uint32_t>(dtypes.size())).first;
    }
    items.push_back(
        {.ready = ends[scenario.communication.overlap_backward ? gradient.layer : 0],
         .bytes = gradient.bytes,
         .elements = gradient.elements,
         .dtype = dtype->second,
         .layer = gradient.layer,
         .ready_order = gradient.measured_order ? position : count - 1 - gradient.registration,
         .registration = gradient.registration,
         .bucket = in_groups ? group_of[gradient.layer] : gradient.bucket});
    ++position;
  }
  if (items.empty()) { // no layer has a gradient: one that sends nothing
    items.push_back({.ready = ends.front(), .bytes = Bytes{0}});
  }
  return items;
}

buckets::Cost merge_cost(const Scenario& scenario) { return channel_cost(scenario, false); }

buckets::Problem merge_problem(const Scenario& scenario) {
  return {.items = merge_items(scenario), .cost = merge_cost(scenario), .channel_free = {}};
}

buckets::Problem as_planned(const Scenario& scenario, buckets::Problem problem) {
  if (const auto& cost = scenario.communication.plan_cost) {
    problem.cost = {.base = *cost};
  }
  return problem;
}

Scenario on_alpha_beta(const Scenario& scenario) {
  Scenario result = scenario;
  result.cluster.network.model = NetworkModel::alpha_beta;
  result.cluster.fabric.reset();
  return result;
}

// Whole femtoseconds, so that the rounding of a tangent does not decide which of two messages that
// may start at the same time is the first.
buckets::Cost startup_cost(const Scenario& scenario, const buckets::Cost& cost) {
  if (!is_simulated(scenario)) {
    return cost;
  }
  buckets::Cost result = is_star(scenario)
                             ? merge_cost(on_alpha_beta(scenario))
                             : buckets::Cost{.base = tangent(cost, mean_message(scenario))};
  if (auto* line = std::get_if<buckets::LinearCost>(&result.base)) {
    line->startup_s = std::round(line->startup_s * 1e15) / 1e15;
  }
  return result;
}

} // namespace stepsim::study
