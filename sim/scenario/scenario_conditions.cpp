#include "scenario/scenario_conditions.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "buckets/planners.hpp"
#include "document/json_pointer.hpp"
#include "scenario/conditions_file.hpp"
#include "scenario/keys/conditions_keys.hpp"
#include "scenario/scenario_exchange.hpp"
#include "scenario/scenario_local.hpp"

namespace stepsim::study {

namespace {

double& part(FactorValues& values, Factor factor) {
  return values[static_cast<std::size_t>(factor)].value;
}

// What the user measured wins: times of whole exchanges, or the rates of a calibrated network.
bool measures_exchanges(const Scenario& nominal) {
  const Network& network = nominal.cluster.network;
  return network.label == "calibrated" || (network.curve && !nominal.communication.question);
}

bool reduced_precision(const Scenario& nominal) {
  if (nominal.training.reduced_precision) {
    return *nominal.training.reduced_precision;
  }
  const auto& estimate = nominal.workload_source.profile.estimate;
  return estimate && layers::kPrecisions[estimate->precision] != "fp32" &&
         layers::kPrecisions[estimate->precision] != "tf32";
}

// Those of an NVLink domain count as one.
std::int64_t machines_of(const Cluster& cluster) {
  return cluster.nodes / cluster.nvlink_domain_nodes;
}

LossQuestion loss_question_of(const Scenario& nominal) {
  const Cluster& cluster = nominal.cluster;
  const auto cards = static_cast<double>(cluster.nics_of_domain());
  return {.machines = machines_of(cluster),
          .gpus = cluster.gpus_of_domain(),
          .ranks = cluster.ranks(),
          .network_Bps = cluster.network.bandwidth_Bps * cluster.network.efficiency * cards,
          .bus_Bps = cluster.intra ? 1 / cluster.intra->per_byte_s : 0,
          .carrier = cluster.network.carrier.value_or(Carrier::rdma),
          .bus = cluster.bus.value_or(Bus::pcie),
          .fuses_by_time = nominal.communication.schedule == buckets::Schedule::horovod,
          .host_reduction = nominal.communication.host_reduction,
          .reduced_precision = reduced_precision(nominal),
          .measured_gpus =
              nominal.workload.measured_ranks.value_or(nominal.workload_source.measured_gpus),
          .micro_batches = nominal.training.micro_batches};
}

// One ring goes through both networks at the rate of the slower one; where shards or islands have
// rings of their own inside a machine, each network has its rate.
bool is_one_ring(const Scenario& nominal) {
  return nominal.communication.collective == collectives::AlgorithmId::ring &&
         nominal.training.sharding.strategy != ShardingStrategy::hybrid_shard &&
         !has_islands(nominal.training);
}

void apply_links(const Losses& lost, Scenario& scenario) {
  Cluster& cluster = scenario.cluster;
  Network& network = cluster.network;
  const bool one_ring = is_one_ring(scenario);
  const auto cards = static_cast<double>(cluster.nics_of_domain());
  if (const double rate = one_ring ? lost.ring_Bps : lost.network_Bps / cards; rate > 0) {
    network.bandwidth_Bps = rate;
    network.efficiency = 1;
  }
  network.latency_s = network.block_latency_s = lost.hop_s;
  network.delay_s = 0;
  if (one_ring) {
    cluster.intra.reset();
  } else if (lost.bus_Bps > 0) {
    cluster.intra = collectives::LinkCost{
        .latency_s = lost.hop_s, .block_latency_s = lost.hop_s, .per_byte_s = 1 / lost.bus_Bps};
  }
  scenario.training.sync.value += lost.message_s;
}

void apply_computing(double factor, Scenario& scenario) {
  for (layers::WorkLayer& layer : scenario.workload.layers.edit()) {
    layer.forward = layer.forward * factor;
    layer.backward = layer.backward * factor;
  }
  collectives::Compression& compression = scenario.communication.compression;
  compression.encode_Bps /= factor;
  compression.decode_Bps /= factor;
}

// `scenario` has nominal rates.
void put_under(const FactorValues& factors, Scenario& scenario) {
  std::array<double, kFactorCount> values{};
  std::ranges::transform(factors, values.begin(), &FactorValue::value);
  const Losses lost = losses(loss_question_of(scenario), values);
  const bool links =
      exchanges(scenario) && !measures_exchanges(scenario) && !scenario.communication.question;
  const bool slows = exchanges(scenario) && !scenario.training.overlap_given;
  scenario.conditions.used.clear();
  for (const Factor factor : lost.factors) {
    if (is_plain(factor) || (factor == Factor::s_net || factor == Factor::s_bus ? slows : links)) {
      scenario.conditions.used.push_back(factor);
    }
  }
  if (links) {
    apply_links(lost, scenario);
  }
  if (slows) {
    scenario.training.overlap.compute.fill(lost.interference);
  }
  if (lost.computing != 1) {
    apply_computing(lost.computing, scenario);
  }
}

} // namespace

void parse_conditions(io::Fields& top, const ParseContext& context, Scenario& scenario) {
  const io::Json* json = top.any("conditions");
  if (json == nullptr || json->is_null()) {
    return;
  }
  Conditions& conditions = scenario.conditions;
  io::Fields fields(*json, context.problems, top.row("conditions"));
  conditions.kind = fields.word("kind", kConditionsKinds);
  const io::Json* file = fields.any("file");
  const io::Json* given = fields.any("factors");
  fields.no_more();
  if (conditions.kind == ConditionsKind::ideal) {
    return;
  }
  const bool own_file = file != nullptr && file->is_string();
  conditions.file = own_file ? file->as_string() : std::string();
  conditions.factors = context.files.conditions(own_file ? *file : io::Json("typical"));
  if (given == nullptr || !given->is_object()) {
    return;
  }
  io::Fields factors(*given, context.problems);
  for (std::size_t i = 0; i < kFactorCount; ++i) {
    const auto factor = static_cast<Factor>(i);
    if (const io::Json* value = factors.any(kFactors[factor])) {
      conditions.factors[i] = read_factor(*value, factor, context.problems);
      conditions.own.push_back(factor);
    }
  }
  factors.no_more();
}

void check_conditions(const io::Json& tree, io::Problems& problems, const Scenario& scenario) {
  if (!is_typical(scenario)) {
    return;
  }
  const io::Json& place = *tree.find("conditions");
  const Cluster& cluster = scenario.cluster;
  const auto refuse = [&](std::string_view what) {
    problems.add(place, "typical conditions are not defined for " + std::string(what));
  };
  if (needs_servers(scenario.training.algorithm) ||
      scenario.communication.collective == collectives::AlgorithmId::parameter_server) {
    refuse("parameter servers");
  } else if (scenario.communication.schedule == buckets::Schedule::priority) {
    refuse("schedule priority");
  } else if (is_simulated(scenario) || !cluster.topology.is_null()) {
    refuse("a simulated network: network model alpha_beta without a topology alone");
  } else if (!scenario.other_jobs.empty()) {
    refuse("several jobs");
  } else if (scenario.training.local.outer_network) {
    refuse("an outer_network of its own");
  }
  const bool counts = !measures_exchanges(scenario);
  if (counts && machines_of(cluster) > 1 && !cluster.network.carrier) {
    problems.add(*io::resolve(tree, "/cluster/network"), "transport",
                 "required with typical conditions: rdma, tcp or tcp_cloud");
  }
  if (counts && cluster.gpus_of_domain() > 1 && !cluster.bus) {
    const io::Json* intra = io::resolve(tree, "/cluster/intra_network");
    problems.add(intra != nullptr ? *intra : *tree.find("cluster"), "bus",
                 "required with typical conditions: pcie, nvlink or xgmi");
  }
}

void apply_conditions(Scenario& scenario) {
  if (!is_typical(scenario)) {
    return;
  }
  scenario.nominal = Nominal{.cluster = scenario.cluster,
                             .training = scenario.training,
                             .workload = scenario.workload,
                             .compression = scenario.communication.compression};
  put_under(scenario.conditions.factors, scenario);
}

Scenario nominal_of(const Scenario& scenario) {
  Scenario out = scenario;
  if (const auto& nominal = scenario.nominal) {
    out.cluster = nominal->cluster;
    out.training = nominal->training;
    out.workload = nominal->workload;
    out.communication.compression = nominal->compression;
  }
  return out;
}

Scenario with_factors(const Scenario& scenario, const FactorValues& factors) {
  Scenario out = nominal_of(scenario);
  put_under(factors, out);
  return out;
}

Scenario with_moved_factor(const Scenario& scenario, Factor factor, double deviations) {
  FactorValues factors = scenario.conditions.factors;
  part(factors, factor) = moved(factor, factors[static_cast<std::size_t>(factor)], deviations);
  return with_factors(scenario, factors);
}

Scenario with_scaled_computing(const Scenario& scenario, double factor) {
  Scenario out = scenario;
  apply_computing(factor, out);
  return out;
}

void add_conditions(const Scenario& scenario, io::Json& tree) {
  if (!is_typical(scenario)) {
    return;
  }
  const Conditions& conditions = scenario.conditions;
  io::Json factors{io::Object{}};
  for (const Factor factor : conditions.used) {
    const FactorValue& value = conditions.factors[static_cast<std::size_t>(factor)];
    factors.set(std::string(kFactors[factor]),
                io::Object{{"value", value.value}, {"tau", value.tau}});
  }
  io::Json part =
      io::Object{{"kind", kConditionsKinds[conditions.kind]}, {"factors", std::move(factors)}};
  if (!conditions.file.empty()) {
    part.set("file", conditions.file);
  }
  tree.set("conditions", std::move(part));
}

namespace {

// Keys that count under typical conditions alone.
constexpr std::array<std::string_view, 7> kOnlyTypical{
    "/conditions/factors",          "/conditions/file",        "/cluster/network/transport",
    "/cluster/intra_network/bus",   "/workload/measured/gpus", "/training/reduced_precision",
    "/communication/host_reduction"};

} // namespace

void set_conditions(ConditionsKind kind, io::Json& tree) {
  io::assign(tree, "/conditions/kind", kConditionsKinds[kind]);
  for (const std::string_view pointer : kOnlyTypical) {
    if (kind == ConditionsKind::ideal && io::resolve(tree, pointer) != nullptr) {
      io::assign(tree, pointer, nullptr);
    }
  }
}

void add_conditions_rules(std::vector<KeyRule>& all) {
  constexpr std::string_view kWhen = "conditions are typical";
  const auto ideal = [](const Scenario&) { return std::string("ideal conditions"); };
  for (const std::string_view pointer : kOnlyTypical) {
    all.push_back({pointer, kWhen, is_typical, ideal});
  }
}

} // namespace stepsim::study
