// What a step computes and sends is that of `step_input`, so that a program and a run see the same
// times.
#include "run/program_parts.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

#include "buckets/planners.hpp"
#include "collectives/algorithms.hpp"
#include "programs/step/message_gates.hpp"
#include "run/group_exchange.hpp"
#include "run/planned_messages.hpp"
#include "scenario/merge_problem.hpp"
#include "scenario/scenario_exchange.hpp"

namespace stepsim::study {

namespace {

using programs::BucketTimes;
using programs::ExchangeTime;
using programs::LayerTimes;

std::vector<LayerTimes> layer_times(const programs::StepInput& step) {
  std::vector<LayerTimes> layers;
  for (std::size_t l = 0; l < step.forward_s.size(); ++l) {
    layers.push_back({.forward = {step.forward_s[l]},
                      .backward = {step.backward_s[l]},
                      .bytes = step.gradient_bytes[l]});
  }
  return layers;
}

// Of the start-up of an all-reduce each half has its share, at most all of its time: the shares are
// rounded.
std::pair<ExchangeTime, ExchangeTime> halves(const programs::Message& message, double startup_s) {
  const double whole = message.seconds + message.broadcast_s;
  const double first =
      whole > 0 ? std::min(startup_s * message.seconds / whole, message.seconds) : 0;
  const double second = std::clamp(startup_s - first, 0.0, message.broadcast_s);
  return {{.startup = {first}, .data = {message.seconds - first}},
          {.startup = {second}, .data = {message.broadcast_s - second}}};
}

ProgramUnit unit_of(const Scenario& scenario, const buckets::Group& group, BucketCost cost) {
  std::map<std::uint32_t, double> bytes;
  ProgramUnit unit;
  unit.bytes = group.bytes;
  for (const std::uint32_t item : group.items) {
    if (item < scenario.workload.gradients.size()) {
      const layers::Gradient& gradient = scenario.workload.gradients[item];
      bytes[gradient.layer] += static_cast<double>(gradient.bytes.value);
      unit.parameters += gradient.bytes.value > 0 ? gradient.values() : 0;
    }
  }
  for (const auto& [layer, count] : bytes) {
    unit.layers.push_back(layer);
    unit.layer_bytes.push_back(count);
  }
  unit.cost = std::move(cost);
  return unit;
}

// Layers, and buckets with all but their exchanges. Delays of one layer's buckets follow each
// other: cycles that begin one after the other.
ProgramParts bare_parts(const programs::StepInput& step, Seconds update) {
  ProgramParts parts{.layers = layer_times(step),
                     .buckets = {},
                     .update = update,
                     .next_forward = step.next_forward == programs::NextForward::barrier
                                         ? programs::NextForward::barrier
                                         : programs::NextForward::per_layer};
  const std::vector<programs::MessageGate> gates = programs::message_gates(step);
  for (std::size_t g = 0; g < step.messages.size(); ++g) {
    const programs::Message& message = step.messages[g];
    const bool follows = g > 0 && gates[g].layer == gates[g - 1].layer;
    const double before = follows ? gates[g - 1].delay_s : 0;
    parts.buckets.push_back({.layers = message.layers,
                             .reduce = {},
                             .gather = {},
                             .ready_after = gates[g].layer,
                             .delay = {std::max(0.0, gates[g].delay_s - before)},
                             .bytes = static_cast<std::int64_t>(message.bytes)});
  }
  return parts;
}

// An all-reduce as the first or second half of an exchange; an algorithm that does not have the
// operation leaves it to a ring, or a tree.
std::vector<collectives::Collective> half_of(std::vector<collectives::Collective> stages,
                                             collectives::Op op) {
  const bool rooted = op == collectives::Op::reduce || op == collectives::Op::broadcast;
  for (collectives::Collective& stage : stages) {
    if (stage.op == collectives::Op::allreduce) {
      stage.op = op;
      if (collectives::find_algorithm(op, stage.algorithm) == nullptr) {
        stage.algorithm = rooted ? collectives::AlgorithmId::mst : collectives::AlgorithmId::ring;
      }
    }
  }
  return stages;
}

// What the exchanges of a bucket are: one, or two halves.
void set_exchanges(const Scenario& scenario, bool simulated, ProgramUnit& unit) {
  const BucketCost& cost = unit.cost;
  const bool rooted = scenario.communication.reduce_broadcast;
  unit.exchange = {.seconds = cost.exchange_s() + cost.broadcast_s, .bytes_sent = cost.bytes_sent};
  if (rooted || has_all_gathers(scenario)) {
    unit.reduce = {.seconds = cost.exchange_s(), .bytes_sent = cost.bytes_sent / 2};
    unit.gather = {.seconds = cost.broadcast_s, .bytes_sent = cost.bytes_sent / 2};
    if (simulated) {
      unit.reduce.stages =
          half_of(cost.stages, rooted ? collectives::Op::reduce : collectives::Op::reduce_scatter);
      unit.gather.stages =
          half_of(cost.back_stages.empty() ? cost.stages : cost.back_stages,
                  rooted ? collectives::Op::broadcast : collectives::Op::allgather);
    }
  } else if (simulated) {
    unit.exchange.stages = cost.stages;
  }
}

// Of a bucket whose messages are simulated: what is not on the wire.
MessageSeconds beside_messages(const BucketCost& cost) {
  return {.exchange = std::max(0.0, cost.exchange_s() - cost.on_wire_s),
          .broadcast = std::max(0.0, cost.broadcast_s - cost.back_on_wire_s)};
}

} // namespace

programs::ExchangeTime taken(const GroupExchange& exchange, bool simulated, UnitExchange& unit) {
  unit = {.seconds = exchange.seconds(),
          .bytes_sent = exchange.bytes_sent,
          .reduction_s = exchange.reduction_s};
  if (!simulated) {
    return exchange.time;
  }
  if (exchange.sent) {
    unit.stages = {*exchange.sent};
  }
  return exchange.beside;
}

ProgramParts allreduced_parts(const Scenario& scenario, ScenarioProgram& out) {
  const buckets::Problem problem = planned_problem(scenario);
  out.plan = plan_of(scenario, problem);
  const buckets::Schedule schedule = scenario.communication.schedule;
  BucketCosts costs(scenario, measured_curve(scenario));
  std::vector<MessageSeconds> seconds;
  double decode = 0;
  for (const buckets::Group& group : out.plan.groups) {
    const BucketCost cost = costs(group);
    seconds.push_back(out.simulated ? beside_messages(cost)
                                    : message_seconds(problem, cost, schedule));
    decode += cost.decode_s;
    out.units.push_back(unit_of(scenario, group, cost));
    set_exchanges(scenario, out.simulated && exchanges(scenario), out.units.back());
  }
  out.method = costs.method();
  out.events = costs.events();
  const Training& training = scenario.training;
  const bool each = training.accumulation_exchange == AccumulationExchange::each;
  const double decoded = each ? static_cast<double>(training.micro_batches) : 1;
  const programs::StepInput step = step_input(scenario, out.plan, seconds, schedule);
  buckets::Problem phases;
  phases.cost = training.overlap.any() ? startup_cost(scenario, problem.cost) : problem.cost;
  ProgramParts parts = bare_parts(step, training.update + Seconds{decoded * decode});
  for (std::size_t g = 0; g < parts.buckets.size(); ++g) {
    const BucketCost& cost = out.units[g].cost;
    BucketTimes& bucket = parts.buckets[g];
    std::tie(bucket.reduce, bucket.gather) =
        halves(step.messages[g], out.simulated ? 0 : startup_seconds(phases, cost.exchange_s()));
    bucket.select = {cost.compress_s()};
    bucket.encode = {cost.encode_s};
  }
  return parts;
}

// Copies in and out of a bucket are in the times of its two exchanges.
ProgramParts scattered_parts(const Scenario& scenario, ScenarioProgram& out) {
  const buckets::Problem problem = planned_problem(scenario);
  out.plan = plan_of(scenario, problem);
  const std::vector<MessageSeconds> none(out.plan.groups.size());
  const programs::StepInput step =
      step_input(scenario, out.plan, none, scenario.communication.schedule);
  ProgramParts parts = bare_parts(step, scenario.training.update);
  const Sharding& sharding = scenario.training.sharding;
  GroupExchanges reduces(scenario, RankGroup::all, collectives::Op::reduce_scatter);
  GroupExchanges gathers(scenario, RankGroup::all, collectives::Op::allgather);
  for (std::size_t g = 0; g < parts.buckets.size(); ++g) {
    ProgramUnit unit = unit_of(scenario, out.plan.groups[g], {});
    const auto parameters = static_cast<double>(unit.parameters);
    const GroupExchange reduce = reduces(sharding.reduce_bytes * parameters);
    const double gathered = sharding.parameter_bytes * parameters;
    const GroupExchange gather = gathers(gathered / sharding.parameter_compression.ratio);
    parts.buckets[g].decode = {sharding.parameter_compression.decode_s(gathered)};
    parts.buckets[g].reduce = taken(reduce, out.simulated, unit.reduce);
    parts.buckets[g].gather = taken(gather, out.simulated, unit.gather);
    unit.cost.algorithm = reduce.algorithm;
    out.units.push_back(std::move(unit));
  }
  out.method = std::max(reduces.method(), gathers.method());
  out.events = reduces.events() + gathers.events();
  return parts;
}

ProgramParts merged_layers(ProgramParts parts, bool slowed) {
  const bool updates_apart =
      parts.next_forward == programs::NextForward::per_layer && parts.update.value > 0;
  if (slowed && updates_apart) {
    return parts;
  }
  const std::size_t layers = parts.layers.size();
  std::vector<bool> begins(layers, false); // whether a merged layer begins with this one
  for (const BucketTimes& bucket : parts.buckets) {
    begins[bucket.ready_after.value_or(programs::lowest_layer(bucket))] = true;
  }
  std::vector<std::uint32_t> merged(layers); // [layer]: its merged layer
  std::vector<LayerTimes> all;
  std::vector<std::uint32_t> awaited; // buckets that the present merged layer waits for
  const auto buckets_of = programs::buckets_of_layers(parts.buckets, layers);
  for (std::size_t l = 0; l < layers; ++l) {
    if (l == 0 || begins[l] ||
        !std::includes(awaited.begin(), awaited.end(), buckets_of[l].begin(),
                       buckets_of[l].end())) {
      all.emplace_back();
      awaited = buckets_of[l];
    }
    merged[l] = static_cast<std::uint32_t>(all.size() - 1);
    all.back().forward += parts.layers[l].forward;
    all.back().backward += parts.layers[l].backward;
    all.back().bytes += parts.layers[l].bytes;
  }
  for (BucketTimes& bucket : parts.buckets) {
    for (std::uint32_t& layer : bucket.layers) {
      layer = merged[layer];
    }
    std::ranges::sort(bucket.layers);
    bucket.layers.erase(std::ranges::unique(bucket.layers).begin(), bucket.layers.end());
    if (bucket.ready_after) {
      bucket.ready_after = merged[*bucket.ready_after];
    }
  }
  parts.layers = std::move(all);
  return parts;
}

} // namespace stepsim::study
