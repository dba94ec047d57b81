#include "run/group_exchange.hpp"

#include "collectives/algorithms.hpp"
#include "run/network_figures.hpp"
#include "run/planned_messages.hpp"
#include "scenario/scenario_training.hpp"

namespace stepsim::study {

namespace {

using programs::LayerTimes;

std::vector<LayerTimes> layer_times(const Scenario& scenario) {
  const std::vector<double> bytes = layer_bytes(scenario);
  std::vector<LayerTimes> times;
  for (const layers::WorkLayer& layer : scenario.workload.layers) {
    times.push_back(
        {.forward = layer.forward, .backward = layer.backward, .bytes = bytes[times.size()]});
  }
  return times;
}

// Without overlap the three phases of reduce_broadcast follow each other for the model as a whole:
// everything is reduced, the root updates, everything is broadcast. No layer can start before the
// last of them ends.
programs::NextForward next_forward(const Communication& communication) {
  return communication.reduce_broadcast && !communication.overlap_backward
             ? programs::NextForward::barrier
             : communication.next_forward;
}

// Start-ups are at most all of a half: they are rounded.
std::pair<programs::ExchangeTime, programs::ExchangeTime> halves(const MessageSeconds& message,
                                                                 double first_s, double second_s) {
  const double first = std::min(first_s, message.exchange);
  const double second = std::clamp(second_s, 0.0, message.broadcast);
  return {{.startup = {first}, .data = {message.exchange - first}},
          {.startup = {second}, .data = {message.broadcast - second}}};
}

ProgramUnit unit_of(const Scenario& scenario, const buckets::Group& group) {
  std::vector<std::pair<std::uint32_t, double>> bytes; // of layers, as gradients come
  ProgramUnit unit;
  unit.bytes = group.bytes;
  for (const std::uint32_t item : group.items) {
    if (item < scenario.workload.gradients.size()) {
      const layers::Gradient& gradient = scenario.workload.gradients[item];
      bytes.emplace_back(gradient.layer, static_cast<double>(gradient.bytes.value));
      unit.parameters += gradient.bytes.value > 0 ? gradient.values() : 0;
    }
  }
  std::ranges::reverse(bytes); // most of them come in backward order
  std::ranges::sort(bytes);    // sums of bytes are exact in any
  for (const auto& [layer, count] : bytes) {
    if (unit.layers.empty() || unit.layers.back() != layer) {
      unit.layers.push_back(layer);
      unit.layer_bytes.push_back(0);
    }
    unit.layer_bytes.back() += count;
  }
  return unit;
}

// One unit per tensor or, as a view, per owner; in the order of owners.
void add_broadcasts(const Scenario& scenario, std::vector<ProgramUnit>& units) {
  const bool views = scenario.training.sharding.gather_by == GatherBy::broadcast_view;
  const auto& gradients = scenario.workload.gradients;
  std::uint32_t owner = 0;
  for (const std::vector<std::uint32_t>& tensors : owned_tensors(scenario)) {
    std::vector<buckets::Group> groups;
    for (const std::uint32_t k : tensors) {
      if (groups.empty() || !views) {
        groups.emplace_back();
      }
      groups.back().items.push_back(k);
      groups.back().bytes += gradients[k].bytes;
    }
    for (const buckets::Group& group : groups) {
      units.push_back(unit_of(scenario, group));
      units.back().owner = owner;
    }
    ++owner;
  }
}

// Layers, and buckets with all but their exchanges.
ProgramParts bare_parts(const Scenario& scenario, Seconds update, ScenarioProgram& out) {
  ProgramParts parts{.layers = layer_times(scenario),
                     .update = update,
                     .next_forward = next_forward(scenario.communication)};
  parts.layer_of.resize(parts.layers.size());
  std::iota(parts.layer_of.begin(), parts.layer_of.end(), 0U);
  const std::vector<Seconds> ends = scenario.workload.backward_ends();
  for (const buckets::Group& group : out.plan.groups) {
    const programs::MessageGate& gate =
        out.gates.emplace_back(programs::message_gate(ends, group.ready.value));
    parts.buckets.push_back({.layers = waiting_layers(scenario, group),
                             .ready_after = gate.layer,
                             .delay = {gate.delay_s},
                             .bytes = group.bytes.value});
  }
  return parts;
}

// An all-reduce as the first or second half of an exchange. Algorithms without the operation are
// refused where messages are simulated.
std::vector<collectives::Collective> half_of(std::vector<collectives::Collective> stages,
                                             collectives::Op op) {
  for (collectives::Collective& stage : stages) {
    if (stage.op == collectives::Op::allreduce) {
      stage.op = op;
      assert(collectives::find_algorithm(op, stage.algorithm) != nullptr && "has halves");
    }
  }
  return stages;
}

// Whether the exchange of a bucket is two, one after the other.
bool has_halves(const Scenario& scenario) {
  return scenario.communication.reduce_broadcast || has_all_gathers(scenario);
}

// Plans the buckets, which become the units.
void plan_units(const Scenario& scenario, ScenarioProgram& out) {
  if (!std::exchange(out.is_planned, false)) {
    out.problem = planned_problem(scenario);
    out.plan = plan_of(scenario, out.problem);
  }
  std::ranges::transform(out.plan.groups, std::back_inserter(out.units),
                         std::bind_front(unit_of, std::cref(scenario)));
}

// What the exchanges of a bucket are: one, or two halves.
void set_exchanges(const Scenario& scenario, bool simulated, ProgramUnit& unit) {
  const BucketCost& cost = unit.cost;
  const bool rooted = scenario.communication.reduce_broadcast;
  unit.exchange = {.seconds = cost.exchange_s() + cost.broadcast_s, .bytes_sent = cost.bytes_sent};
  if (has_halves(scenario)) {
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
MessageSeconds beside_messages(const ChannelSeconds& times) {
  return {.exchange = std::max(0.0, times.exchange_s() - times.on_wire_s),
          .broadcast = std::max(0.0, times.broadcast_s - times.back_on_wire_s)};
}

} // namespace

void time_buckets(const Scenario& scenario, ScenarioProgram& made) {
  BucketCosts costs(scenario, measured_curve(scenario));
  costs.share(made.sent);
  const bool overlaps = scenario.training.overlap.any();
  const buckets::Planner& planner = buckets::planner(scenario.communication.schedule);
  const bool told_apart = overlaps || is_star(scenario) || planner.needs_linear_cost();
  const buckets::Cost phases = is_simulated(scenario) && told_apart
                                   ? startup_cost(scenario, merge_cost(scenario))
                                   : made.problem.cost;
  const bool is_line = phases.is_linear() && (!is_simulated(scenario) || is_star(scenario));
  const bool in_two = has_halves(scenario);
  const bool all_gathers = has_all_gathers(scenario);
  const bool rooted = scenario.communication.reduce_broadcast;
  const bool at_once = planner.shares_channel(scenario.communication.schedule_options);
  const bool by_message = (overlaps || at_once || made.made_for == MadeFor::lists) &&
                          (!is_line || rooted) && !made.simulated && exchanges(scenario) &&
                          !is_compressed(scenario) && !has_curve(scenario);
  const bool for_period = made.made_for == MadeFor::period;
  const bool times_alone = for_period && !is_compressed(scenario);
  // Else figures ask for the first bucket of as many bytes alone.
  const bool copies = made.made_for == MadeFor::lists || is_simulated(scenario) ||
                      has_curve(scenario) || scenario.communication.question;
  // Messages by the same algorithm among as many ranks send as many bytes.
  const bool counted = made.made_for == MadeFor::figures &&
                       made.counted_ranks == scenario.cluster.ranks() && !is_simulated(scenario) &&
                       !is_compressed(scenario) && !scenario.communication.question &&
                       collectives::SentBytes::keeps(exchange_of(scenario));
  made.counted_ranks = times_alone ? made.counted_ranks : scenario.cluster.ranks();
  for (std::size_t g = 0; g < made.units.size(); ++g) {
    const buckets::Group& group = made.plan.groups[g];
    ProgramUnit& unit = made.units[g];
    if (made.alike[g] != g) {
      if (copies) {
        const ProgramUnit& like = made.units[made.alike[g]];
        unit.exchange = like.exchange;
        if (in_two) {
          unit.reduce = like.reduce;
          unit.gather = like.gather;
        }
        unit.cost = like.cost;
      }
      continue;
    }
    if (counted) {
      static_cast<ChannelSeconds&>(unit.cost) = costs.times(group.bytes);
    } else if (!times_alone) {
      unit.cost = costs(group, std::exchange(unit.cost, {}));
    }
    if (!for_period) {
      set_exchanges(scenario, made.simulated && exchanges(scenario), unit);
    }
    const ChannelSeconds times = times_alone ? costs.times(group.bytes) : unit.cost;
    const double timed = times.exchange_s() + (rooted ? 0 : times.broadcast_s);
    const MessageSeconds seconds = made.simulated ? beside_messages(times)
                                                  : MessageSeconds{.exchange = times.exchange_s(),
                                                                   .broadcast = times.broadcast_s};
    const auto [first_s, second_s] = made.simulated ? std::pair(0.0, 0.0)
                                     : by_message   ? costs.startups(group.bytes)
                                                    : line_startups(scenario, phases, timed);
    const auto [first, second] =
        halves(with_copies(scenario, group, seconds, all_gathers), first_s, second_s);
    (in_two ? unit.reduce : unit.exchange).time = first;
    unit.gather.time = second;
  }
  made.method = costs.method();
  made.events = costs.events();
}

// Copies in and out of a bucket are in the times of its two exchanges.
void time_shards(const Scenario& scenario, ScenarioProgram& made) {
  const Sharding& sharding = scenario.training.sharding;
  const bool hybrid = sharding.strategy == ShardingStrategy::hybrid_shard;
  const RankGroup group = hybrid ? RankGroup::node : RankGroup::all;
  const bool owners = has_owners(sharding);
  std::map<std::uint32_t, GroupExchanges>
      gathers; // by the rank that they come from, where it counts
  const auto gathers_of = [&](const ProgramUnit& unit) -> GroupExchanges& {
    const auto op = owners ? collectives::Op::broadcast : collectives::Op::allgather;
    const std::uint32_t root = is_simulated(scenario) ? unit.owner.value_or(0) : 0;
    const auto [place, is_new] = gathers.try_emplace(root, scenario, group, op, root);
    if (is_new) {
      place->second.share(made.sent);
    }
    return place->second;
  };
  GroupExchanges reduces(scenario, group,
                         owners ? collectives::Op::allreduce : collectives::Op::reduce_scatter);
  std::optional<GroupExchanges> replicas;
  if (hybrid) {
    replicas.emplace(scenario, RankGroup::replica, collectives::Op::allreduce);
    replicas->share(made.sent);
  }
  reduces.share(made.sent);
  const bool counted = made.made_for == MadeFor::figures && !is_simulated(scenario) &&
                       made.counted_ranks == scenario.cluster.ranks();
  made.counted_ranks = made.made_for == MadeFor::period ? 0 : scenario.cluster.ranks();
  const bool copies = made.made_for == MadeFor::lists;
  const auto count = static_cast<std::uint32_t>(made.units.size());
  const std::span<const std::uint32_t> alike = made.alike;
  for (std::uint32_t u = 0; u < count; ++u) {
    if (const std::uint32_t like = u < alike.size() ? alike[u] : u; like != u) {
      if (copies) {
        ProgramUnit& unit = made.units[u];
        unit.gather = made.units[like].gather;
        unit.reduce = made.units[like].reduce;
        unit.replicate = made.units[like].replicate;
        unit.cost.algorithm = made.units[like].cost.algorithm;
      }
      continue;
    }
    ProgramUnit& unit = made.units[u];
    const auto parameters = static_cast<double>(unit.parameters);
    // Its algorithm is the one that is shown.
    const auto take = [&](GroupExchanges& all, double bytes, bool shown, UnitExchange& exchange) {
      if (made.made_for == MadeFor::period) {
        exchange = taken(all.times(bytes), made.simulated, made.made_for);
        return;
      }
      if (counted && all.is_fixed()) {
        return all.renew(bytes, exchange);
      }
      const GroupExchange of_group = all(bytes);
      exchange = taken(of_group, made.simulated, made.made_for);
      if (shown) {
        unit.cost.algorithm = of_group.algorithm;
      }
    };
    if (!unit.owner) {
      take(reduces, sharding.reduce_bytes * parameters, !made.sharded,
           owners ? unit.exchange : unit.reduce);
    }
    if (unit.owner || !owners) {
      take(gathers_of(unit),
           sharding.parameter_bytes * parameters / sharding.parameter_compression.ratio,
           made.sharded, unit.gather);
    }
    if (replicas) {
      const auto shards = static_cast<double>(shard_ranks(scenario));
      take(*replicas, sharding.reduce_bytes * parameters / shards, false, unit.replicate);
    }
  }
  made.method = collectives::Method::closed_form;
  made.events = 0;
  made.estimates.clear();
  add_evaluation(reduces, made);
  for (const auto& [root, each] : gathers) {
    add_evaluation(each, made);
  }
  if (replicas) {
    add_evaluation(*replicas, made);
  }
}

ProgramParts allreduced_parts(const Scenario& scenario, ScenarioProgram& out) {
  plan_units(scenario, out);
  out.alike = alike(scenario, out.plan);
  time_buckets(scenario, out);
  const double decode =
      base::sum_of<double>(out.units, [](const ProgramUnit& unit) { return unit.cost.decode_s; });
  const Training& training = scenario.training;
  const bool each = training.accumulation_exchange == AccumulationExchange::each;
  const double decoded = each ? static_cast<double>(training.micro_batches) : 1;
  ProgramParts parts = bare_parts(scenario, training.update + Seconds{decoded * decode}, out);
  const bool side =
      scenario.communication.compression.select_stream == collectives::SelectStream::side;
  for (std::size_t g = 0; g < parts.buckets.size(); ++g) {
    const ProgramUnit& unit = out.units[out.alike[g]];
    programs::BucketTimes& bucket = parts.buckets[g];
    bucket.reduce = (has_halves(scenario) ? unit.reduce : unit.exchange).time;
    bucket.gather = unit.gather.time;
    (side ? bucket.side : bucket.select) = {unit.cost.compress_s()};
    bucket.encode = {unit.cost.encode_s};
  }
  return parts;
}

ProgramParts scattered_parts(const Scenario& scenario, ScenarioProgram& out) {
  plan_units(scenario, out);
  if (has_owners(scenario.training.sharding)) {
    add_broadcasts(scenario, out.units);
  }
  time_shards(scenario, out);
  ProgramParts parts = bare_parts(scenario, scenario.training.update, out);
  const Sharding& sharding = scenario.training.sharding;
  for (std::size_t g = 0; g < parts.buckets.size(); ++g) {
    const ProgramUnit& unit = out.units[g];
    const double gathered = sharding.parameter_bytes * static_cast<double>(unit.parameters);
    parts.buckets[g].decode = {sharding.parameter_compression.decode_s(gathered)};
    parts.buckets[g].reduce = (has_owners(sharding) ? unit.exchange : unit.reduce).time;
    parts.buckets[g].gather = unit.gather.time;
  }
  return parts;
}

ProgramParts with_merged_layers(ProgramParts parts, bool slowed_alike, bool one_forward) {
  const bool per_layer = parts.next_forward == programs::NextForward::per_layer;
  if (!slowed_alike && per_layer && parts.update.value > 0) {
    return parts;
  }
  const std::vector<std::uint32_t> merged =
      programs::merged_layers(parts.buckets, parts.layers.size());
  std::vector<LayerTimes> all(merged.back() + std::size_t{1});
  for (std::size_t l = 0; l < merged.size(); ++l) {
    LayerTimes& layer = all[merged[l]];
    (one_forward ? all.front() : layer).forward += parts.layers[l].forward;
    layer.backward += parts.layers[l].backward;
    layer.bytes += parts.layers[l].bytes;
  }
  for (LayerTimes& layer : std::span(all).subspan(1)) {
    layer.forward_before = one_forward;
  }
  if (!std::isfinite(all.front().forward.value)) {
    throw SimulationError(std::string(kBeyondNumbers));
  }
  for (programs::BucketTimes& bucket : parts.buckets) {
    programs::merge_layers(merged, bucket.layers);
    if (bucket.ready_after) {
      bucket.ready_after = merged[*bucket.ready_after];
    }
  }
  parts.layers = std::move(all);
  parts.layer_of = merged;
  return parts;
}

} // namespace stepsim::study
