#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "net/profile/dense_inflation.hpp"
#include "run/bucket_cost.hpp"
#include "run/run_parts.hpp"
#include "train/step/exchange.hpp"

namespace stepsim::study {

namespace {

// Every message takes startup + bytes per_byte longer.
plan::Cost with_extra(plan::Cost cost, const plan::LinearCost& extra) {
  if (auto* linear = std::get_if<plan::LinearCost>(&cost.base)) {
    linear->startup_s += extra.startup_s;
    linear->per_byte_s += extra.per_byte_s;
    return cost;
  }
  return {.base = plan::CurveCost{[cost, extra](double bytes) {
            const double more = extra.startup_s + extra.per_byte_s * bytes;
            return bytes > 0 ? cost.seconds(bytes, 1) + more : 0.0;
          }}};
}

// A dense message: a measured curve; where start-up and data must be separable or `by_formula`, the
// closed form; else as the run evaluates it.
plan::Cost dense_cost(const Scenario& scenario, bool by_formula) {
  if (!exchanges(scenario)) {
    return {.base = plan::LinearCost{}};
  }
  if (scenario.cluster.network.curve) {
    return *scenario.cluster.network.curve;
  }
  const bool separable = plan::planner(scenario.communication.schedule).needs_linear_cost();
  return by_formula || separable ? train::planner_cost(exchange_of(scenario))
                                 : train::merge_cost(exchange_of(scenario), scenario.method);
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

// What a profile found dense ring all-reduces to take longer than the network explains (SPA 9).
double inflation(const Scenario& scenario) {
  const auto& profile = scenario.cluster.network.profile;
  const bool dense =
      coll::row(scenario.communication.compression.method).kind == coll::CompressionKind::dense;
  const bool ring = scenario.communication.collective == coll::AlgorithmId::ring;
  return profile && dense && ring ? net::dense_inflation(*profile, scenario.cluster.ranks()) : 1;
}

} // namespace

coll::Op exchange_op(const Communication& communication) {
  return communication.reduce_broadcast ? coll::Op::reduce : coll::Op::allreduce;
}

coll::Collective exchange_of(const Scenario& scenario) {
  const Cluster& cluster = scenario.cluster;
  const Network& network = cluster.network;
  coll::Collective collective;
  collective.op = exchange_op(scenario.communication);
  collective.algorithm = scenario.communication.collective;
  collective.ranks = static_cast<std::uint32_t>(cluster.ranks());
  const double rate = network.bandwidth_Bps * network.efficiency;
  if (cluster.fabric) {
    collective.links.fabric = cluster.fabric; // which alone counts
  } else {
    collective.links.all = {network.latency_s, network.block_latency_s, rate > 0 ? 1 / rate : 0};
  }
  if (const double gamma = inflation(scenario); gamma != 1) {
    collective.links.all.latency_s *= gamma;
    collective.links.all.block_latency_s *= gamma;
    collective.links.all.per_byte_s *= gamma;
  }
  if ((cluster.intra || cluster.fabric) && cluster.gpus_per_node > 1) {
    collective.links.two_level = coll::TwoLevel{static_cast<std::uint32_t>(cluster.gpus_per_node),
                                                static_cast<std::uint32_t>(cluster.nics_per_node),
                                                cluster.intra.value_or(coll::LinkCost{})};
  }
  collective.reduction_s_per_byte = network.reduction_Bps > 0 ? 1 / network.reduction_Bps : 0;
  collective.options = scenario.communication.options;
  return collective;
}

plan::Problem merge_problem(const Scenario& scenario) {
  const train::Workload& workload = scenario.workload;
  plan::Problem problem;
  std::vector<Seconds> layer_ready(workload.layers.size());
  Seconds t;
  for (std::size_t l = workload.layers.size(); l-- > 0;) {
    t += workload.layers[l].backward;
    layer_ready[l] = t;
  }
  std::map<std::string, std::uint32_t> dtypes;
  std::int64_t position = 0;
  const auto count = static_cast<std::int64_t>(workload.gradients.size());
  for (const train::Gradient& gradient : workload.gradients) {
    const auto dtype =
        dtypes.try_emplace(gradient.dtype, static_cast<std::uint32_t>(dtypes.size()));
    problem.items.push_back(
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
  if (problem.items.empty()) { // no layer has a gradient: one that sends nothing
    problem.items.push_back({.ready = t, .bytes = Bytes{0}});
  }
  problem.cost = channel_cost(scenario, false);
  return problem;
}

plan::Cost formula_cost(const Scenario& scenario) { return channel_cost(scenario, true); }

train::StepInput step_input(const Scenario& scenario) {
  train::StepInput input;
  const train::Workload& workload = scenario.workload;
  for (const train::WorkLayer& layer : workload.layers) {
    input.forward_s.push_back(layer.forward.value);
    input.backward_s.push_back(layer.backward.value);
  }
  input.gradient_bytes.assign(workload.layers.size(), 0);
  for (const train::Gradient& gradient : workload.gradients) {
    input.gradient_bytes[gradient.layer] += static_cast<double>(gradient.bytes.value);
  }
  const Communication& communication = scenario.communication;
  input.update_s = scenario.training.update.value;
  input.input_s = scenario.training.input.value;
  input.input_pipelined = scenario.training.input_pipelined;
  input.next_forward = communication.next_forward;
  input.reduce_broadcast = communication.reduce_broadcast;
  if (communication.reduce_broadcast && !communication.overlap_backward) {
    input.next_forward = train::NextForward::barrier;
  }
  return input;
}

} // namespace stepsim::study
