#include "run/scenario_program.hpp"

#include "run/group_exchange.hpp"
#include "run/planned_messages.hpp"
#include "run/run_program.hpp"

namespace stepsim::study {

namespace {

using programs::LayeredRound;

double outer_bytes(const LocalTraining& local, const ProgramUnit& unit) {
  return local.outer_value_bytes * static_cast<double>(unit.parameters);
}

// Sets the exchanges of the outer messages, which are the units from `first` on.
void time_outer(const Scenario& scenario, std::size_t first, ScenarioProgram& made) {
  const LocalTraining& local = scenario.training.local;
  const ValueCodec& codec = local.outer_compression;
  Scenario cluster = outer_cluster_of(scenario);
  const bool coded = exchanges(cluster);
  cluster.communication.copy_bandwidth_Bps = 0; // copies are those of a bucket (MER 4.4)
  const bool replicas = has_replicas(scenario.training);
  GroupExchanges outer(cluster, replicas ? RankGroup::replica : RankGroup::all,
                       collectives::Op::allreduce, 0, codec);
  // Without a link for islands every rank of a node exchanges its share with its replicas.
  const double shares = replicas ? static_cast<double>(cluster.cluster.gpus_per_node) : 1;
  // Outer messages over a link of their own do not meet those of the cluster's network.
  const bool simulated = made.simulated && is_simulated(cluster);
  for (std::size_t u = first; u < made.units.size(); ++u) {
    ProgramUnit& unit = made.units[u];
    const double bytes = outer_bytes(local, unit);
    GroupExchange exchange = outer(bytes / codec.ratio / shares);
    const double copies = coded ? copy_seconds(scenario, made.plan.groups[u]) / shares : 0;
    exchange.time.data += Seconds{copies};
    exchange.beside.data += Seconds{copies};
    unit.exchange = taken(exchange, simulated, made.made_for);
    unit.cost.encode_s = coded ? codec.encode_s(bytes) : 0;
    unit.cost.decode_s = coded ? codec.decode_s(bytes) : 0;
    unit.cost.wire_s = exchange.seconds();
    unit.cost.bytes_sent = exchange.bytes_sent;
    unit.cost.algorithm = exchange.algorithm;
  }
  made.estimates.clear();
  add_evaluation(outer, made);
}

// The part of the outer update that each layer has: an equal part for every fragment (TRN 4.8), in
// which layers have theirs by parameters.
std::vector<double> update_shares(const std::vector<std::vector<std::uint32_t>>& fragments,
                                  const std::vector<std::int64_t>& parameters) {
  std::vector<double> shares(parameters.size());
  for (const std::vector<std::uint32_t>& fragment : fragments) {
    const double all =
        base::sum_of<double>(fragment, [&](std::uint32_t layer) { return parameters[layer]; });
    for (const std::uint32_t layer : fragment) {
      const double share = all > 0 ? static_cast<double>(parameters[layer]) / all
                                   : 1 / static_cast<double>(fragment.size());
      shares[layer] = share / static_cast<double>(fragments.size());
    }
  }
  return shares;
}

// Times of the outer messages, one for each set of layers: a fragment or a layer. Adds a unit and a
// group of the plan for each message that has bytes (MER 5).
std::vector<programs::FragmentTimes>
outer_messages(const Scenario& scenario, const std::vector<std::vector<std::uint32_t>>& fragments,
               const std::vector<std::vector<std::uint32_t>>& layers, ScenarioProgram& out) {
  const LocalTraining& local = scenario.training.local;
  const std::vector<std::int64_t> parameters = layers::layer_parameters(scenario.workload);
  const std::vector<double> shares = update_shares(fragments, parameters);
  const std::size_t first = out.units.size();
  std::vector<std::optional<std::size_t>> unit_of(parameters.size()); // [layer]
  for (const std::vector<std::uint32_t>& each : layers) {
    if (std::ranges::all_of(each, [&](std::uint32_t l) { return parameters[l] == 0; })) {
      continue;
    }
    ProgramUnit unit;
    for (const std::uint32_t layer : each) {
      unit.layers.push_back(layer);
      unit.layer_bytes.push_back(local.outer_value_bytes * static_cast<double>(parameters[layer]));
      unit.parameters += parameters[layer];
      unit_of[layer] = out.units.size();
    }
    unit.bytes = Bytes{static_cast<std::int64_t>(std::ceil(outer_bytes(local, unit)))};
    out.plan.groups.emplace_back().bytes = unit.bytes;
    out.units.push_back(std::move(unit));
  }
  for (std::uint32_t item = 0; item < scenario.workload.gradients.size(); ++item) {
    if (const auto unit = unit_of[scenario.workload.gradients[item].layer]) {
      out.plan.groups[*unit].items.push_back(item);
    }
  }
  time_outer(scenario, first, out);
  std::vector<programs::FragmentTimes> messages;
  for (const std::vector<std::uint32_t>& each : layers) {
    programs::FragmentTimes& message = messages.emplace_back();
    for (const std::uint32_t layer : each) {
      message.merge += local.outer_update * shares[layer];
    }
    const auto unit = each.empty() ? std::nullopt : unit_of[each.front()];
    message.sent = unit.has_value();
    if (unit) {
      message.exchange = out.units[*unit].exchange.time;
      message.encode = {out.units[*unit].cost.encode_s};
      message.decode = {out.units[*unit].cost.decode_s};
    }
  }
  return messages;
}

// The first `buckets` units are exchanged inside every node, the others by the ranks with the same
// place in their nodes where their messages are simulated.
void keep_in_islands(const Scenario& scenario, std::size_t buckets, bool simulated,
                     programs::Program& made) {
  made.groups = {rank_group(scenario, RankGroup::node)};
  const bool replicas = simulated && has_replicas(scenario.training);
  if (replicas) {
    made.groups.push_back(rank_group(scenario, RankGroup::replica));
  }
  for (programs::Operation& operation : made.operations) {
    if (operation.type != programs::OperationType::exchange || operation.unit < 0) {
      continue;
    }
    if (static_cast<std::size_t>(operation.unit) < buckets) {
      operation.group = 0;
    } else if (replicas) {
      operation.group = 1;
    }
  }
}

// Neighbours: the first layer of fragment p is floor(p L / P).
std::vector<std::vector<std::uint32_t>>
layers_of_fragments(std::uint32_t layers, std::uint32_t fragments, FragmentPattern pattern) {
  std::vector<std::vector<std::uint32_t>> result(fragments);
  for (std::uint32_t p = 0; p < fragments; ++p) {
    if (pattern == FragmentPattern::strided) {
      for (std::uint32_t l = p; l < layers; l += fragments) {
        result[p].push_back(l);
      }
    } else {
      const std::uint64_t begin = std::uint64_t{p} * layers / fragments;
      const std::uint64_t end = (std::uint64_t{p} + 1) * layers / fragments;
      for (std::uint64_t l = begin; l < end; ++l) {
        result[p].push_back(static_cast<std::uint32_t>(l));
      }
    }
  }
  return result;
}

} // namespace

void time_rounds(const Scenario& scenario, ScenarioProgram& made) {
  made.method = collectives::Method::closed_form;
  made.events = 0;
  time_outer(scenario, 0, made);
}

void fill_rounds(const Scenario& scenario, const EvaluatedProgram& found, Summary& summary) {
  const LocalTraining& local = scenario.training.local;
  summary.outer_communication_s = found.outer_communication_s;
  summary.local_steps = static_cast<double>(local.local_steps);
  summary.overlap_steps = static_cast<double>(local.overlap_steps);
  summary.outer_staleness_steps = summary.overlap_steps;
  if (local.outer_compression.method != CodecMethod::none) {
    const std::int64_t ranks = has_replicas(scenario.training)
                                   ? scenario.cluster.nodes
                                   : outer_cluster_of(scenario).cluster.ranks();
    summary.codec_hops = static_cast<double>(ranks - 1);
  }
}

programs::Program make_rounds(const Scenario& scenario, ScenarioProgram& out) {
  const LocalTraining& local = scenario.training.local;
  const auto layers = static_cast<std::uint32_t>(scenario.workload.layers.size());
  const programs::RoundOptions options{.local_steps = static_cast<std::uint32_t>(local.local_steps),
                                       .overlap_steps =
                                           static_cast<std::uint32_t>(local.overlap_steps)};
  const std::vector<std::vector<std::uint32_t>> fragments = layers_of_fragments(
      layers, static_cast<std::uint32_t>(local.fragments), local.fragment_pattern);
  const bool layered = local.outer_gate == programs::OuterGate::layer;
  const bool islands = has_islands(scenario.training);
  LayeredRound round{.fragments = fragments, .gate = local.outer_gate};
  if (islands) {
    // The links inside a node are no part of the network.
    const bool simulated = std::exchange(out.simulated, false);
    Scenario island = island_of(scenario);
    if (!scenario.communication.merge_of) { // searched in the run of all islands, not in one
      const buckets::Schedule own = scenario.communication.schedule;
      island.communication.merge_of =
          searches_merge(scenario) ? fastest_merge(scenario).merge : own;
    }
    ProgramParts parts = allreduced_parts(island, out);
    out.simulated = simulated;
    round.layers = std::move(parts.layers);
    round.buckets = std::move(parts.buckets);
    round.next_forward = parts.next_forward;
    round.update = parts.update;
  }
  const std::size_t buckets = out.units.size();
  round.outer = outer_messages(
      scenario, fragments,
      layered ? layers_of_fragments(layers, layers, FragmentPattern::strided) : fragments, out);
  const layers::Workload& workload = scenario.workload;
  const Seconds update = scenario.training.update;
  if (islands) {
    programs::Program made = programs::layered_round_program(round, options);
    keep_in_islands(scenario, buckets, out.simulated, made);
    return made;
  }
  if (!layered) {
    return programs::local_sgd_program(workload.forward() + workload.backward() + update,
                                       round.outer, options);
  }
  const std::vector<std::int64_t> parameters = layers::layer_parameters(workload);
  for (std::uint32_t l = 0; l < layers; ++l) {
    round.layers.push_back({.forward = workload.layers[l].forward,
                            .backward = workload.layers[l].backward,
                            .bytes = static_cast<double>(parameters[l])});
  }
  round.update = update;
  return programs::layered_round_program(round, options);
}

} // namespace stepsim::study
