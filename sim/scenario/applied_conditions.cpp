// Puts a scenario with nominal rates under its conditions: what messages lose goes to the links
// that time them, what computing loses to the layers. The nominal parts are kept beside it, so that
// a factor that is moved starts from them again.
#include "scenario/scenario_conditions.hpp"
#include "scenario/scenario_library.hpp"

namespace stepsim::study {

namespace {

using Values = std::array<double, kFactorCount>;

double& part(FactorValues& values, Factor factor) {
  return values[static_cast<std::size_t>(factor)].value;
}

// Sparse, quantised and custom exchanges have messages of their own, whatever the collective is.
bool sends_by_collective(const collectives::Compression& compression) {
  const collectives::CompressionKind kind = collectives::row(compression.method).kind;
  return kind == collectives::CompressionKind::dense || kind == collectives::CompressionKind::codec;
}

// One ring goes through both networks at the rate of the slower one; where shards or islands have
// rings of their own inside a machine, or messages are no ring, each network has its rate. Messages
// to servers on machines take the network alone.
bool has_one_rate(const Scenario& nominal, ServersOn servers) {
  const bool dedicated =
      nominal.communication.options.placement == collectives::Placement::dedicated;
  return servers == ServersOn::machines || (servers == ServersOn::host && dedicated) ||
         (nominal.communication.collective == collectives::AlgorithmId::ring &&
          sends_by_collective(nominal.communication.compression) &&
          !has_owners(nominal.training.sharding) &&
          nominal.training.sharding.strategy != ShardingStrategy::hybrid_shard &&
          !has_islands(nominal.training));
}

void append(std::initializer_list<double> numbers, std::vector<double>& to) {
  to.insert(to.end(), numbers);
}

// The keys whose times `start` replaces although they are longer. Inside a machine, where node
// types and profiles mostly give them, those that are longer than the start of a whole message.
void note_shortened(const LossQuestion& question, const collectives::LinkCost& start,
                    double message_s, Scenario& scenario) {
  const auto note = [&](bool longer, std::string_view pointer) {
    if (longer) {
      scenario.conditions.shortened.push_back(pointer);
    }
  };
  const Network& network = scenario.cluster.network;
  note(network.latency_given && start.latency_s < network.latency_s, "/cluster/network/latency_s");
  note(start.delay_s < network.delay_s, "/cluster/network/delay_s");
  if (const auto& intra = scenario.cluster.intra; intra && !question.starts_measured) {
    note(std::max(start.latency_s, message_s) < intra->latency_s,
         "/cluster/intra_network/latency_s");
    note(start.delay_s < intra->delay_s, "/cluster/intra_network/delay_s");
  }
}

void apply_to_latencies_and_rates(const LossQuestion& question, const Losses& lost,
                                  Scenario& scenario) {
  Cluster& cluster = scenario.cluster;
  Network& network = cluster.network;
  const bool one_rate = has_one_rate(scenario, question.servers);
  const auto cards = static_cast<double>(cluster.nics_of_domain());
  if (one_rate || crosses_network(question)) {
    network.bandwidth_Bps = one_rate ? lost.ring_Bps : lost.network_Bps / cards;
    network.efficiency = 1;
    if (!(network.bandwidth_Bps > 0)) { // 0 would be a free network
      throw SimulationError("the factors of conditions leave nothing of the rate of the network");
    }
  }
  // A push and a pull have half of the start each.
  collectives::LinkCost start{
      .latency_s = question.servers == ServersOn::none ? lost.hop_s : lost.message_s / 2};
  start.block_latency_s = start.latency_s;
  if (question.starts_measured) { // by the network, or where no message crosses it by the bus
    start = crosses_network(question)
                ? collectives::LinkCost{.latency_s = network.latency_s,
                                        .block_latency_s = network.block_latency_s,
                                        .delay_s = network.delay_s}
                : cluster.intra.value_or(start);
  }
  note_shortened(question, start, lost.message_s, scenario);
  network.latency_s = start.latency_s;
  network.block_latency_s = start.block_latency_s;
  network.delay_s = start.delay_s;
  if (one_rate) {
    cluster.intra.reset();
  } else if (crosses_bus(question)) {
    cluster.intra = question.starts_measured && cluster.intra ? *cluster.intra : start;
    cluster.intra->per_byte_s = 1 / lost.bus_Bps;
  }
  append({one_rate ? lost.ring_Bps : lost.network_Bps, one_rate ? 0 : lost.bus_Bps, start.latency_s,
          lost.message_s},
         scenario.conditions.links);
  cluster.machines_push = question.servers == ServersOn::machines;
  scenario.training.sync.value += question.servers == ServersOn::none ? lost.message_s : 0;
}

// Latencies of a topology stay.
void apply_to_fabric(const LossQuestion& question, const Losses& lost, Scenario& scenario) {
  Cluster& cluster = scenario.cluster;
  const double into_machine =
      crosses_network(question) ? lost.network_Bps / rate_out_of_machine(cluster) : 1;
  const double inside = crosses_bus(question) ? lost.bus_Bps / inner_rate(cluster) : 1;
  scale_links(into_machine, inside, cluster);
  cluster.network.bandwidth_Bps *= into_machine; // planners ask for it
  if (cluster.intra) {
    cluster.intra->per_byte_s /= inside;
  }
  scenario.training.sync.value += lost.message_s;
  append({into_machine, inside, lost.message_s}, scenario.conditions.links);
}

void apply_to_library(const LossQuestion& question, const Losses& lost, Scenario& scenario) {
  nccl::NodeType& node = scenario.communication.question->node;
  node.nic_Bps *= crosses_network(question) ? lost.network_Bps / question.network_Bps : 1;
  node.ring_Bps *= crosses_bus(question) ? lost.bus_Bps / question.bus_Bps : 1;
  append({node.nic_Bps, node.ring_Bps}, scenario.conditions.links);
  renew_library_cost(scenario);
}

void apply_links(const LossQuestion& question, const Losses& lost, Scenario& scenario) {
  switch (question.links) {
  case LinkModel::alpha_beta:
    apply_to_latencies_and_rates(question, lost, scenario);
    break;
  case LinkModel::fabric:
  case LinkModel::packets:
    apply_to_fabric(question, lost, scenario);
    break;
  case LinkModel::library:
    apply_to_library(question, lost, scenario);
    break;
  }
}

// The network of outer exchanges keeps its latency.
FactorSet apply_to_outer_network(const LossQuestion& question, const Values& values,
                                 Scenario& scenario) {
  auto& outer = scenario.training.local.outer_network;
  if (!outer || !outer->bandwidth_Bps || !outer->transport) {
    return {};
  }
  LossQuestion apart = question;
  apart.links = LinkModel::fabric;
  apart.network_measured = false;
  apart.network_Bps = *outer->bandwidth_Bps;
  apart.carrier = *outer->transport;
  const NetworkLoss lost = network_loss(apart, values);
  outer->bandwidth_Bps = lost.Bps;
  append({lost.Bps}, scenario.conditions.links);
  return lost.factors;
}

// `layers` become `factor` times as long as those of `from`, which may be the same list.
void slow_down(double factor, const layers::Workload& from, layers::Workload& workload) {
  std::vector<layers::WorkLayer>& layers = workload.layers.edit();
  auto nominal = from.layers.begin();
  for (layers::WorkLayer& layer : layers) {
    layer.forward = nominal->forward * factor;
    layer.backward = nominal->backward * factor;
    ++nominal;
  }
}

void slow_operators(double factor, Scenario& scenario) {
  collectives::Compression& compression = scenario.communication.compression;
  ValueCodec& parameters = scenario.training.sharding.parameter_compression;
  ValueCodec& outer = scenario.training.local.outer_compression;
  for (double* speed : {&compression.encode_Bps, &compression.decode_Bps, &parameters.encode_Bps,
                        &parameters.decode_Bps, &outer.encode_Bps, &outer.decode_Bps}) {
    *speed /= factor;
  }
  compression.slowdown *= factor;
}

// Each of the other jobs computes with its own number of workers.
FactorSet apply_to_other_jobs(const LossQuestion& first, const Values& values, Scenario& scenario) {
  FactorSet factors;
  for (OtherJob& job : scenario.other_jobs) {
    LossQuestion question = first;
    question.ranks = job.nodes * scenario.cluster.gpus_per_node;
    question.measured_gpus = measured_gpus(job.workload, job.source);
    question.reduced_precision = reduced_precision(scenario.training, job.source);
    const Losses lost = losses(question, values);
    slow_down(lost.computing, job.workload, job.workload);
    append({lost.computing}, scenario.conditions.computing);
    factors |= lost.factors;
  }
  return factors;
}

// Puts back what conditions change, and the numbers of a point, of the cluster, the training and
// the compression.
void put_back(const Nominal& nominal, Scenario& scenario) {
  Cluster& cluster = scenario.cluster;
  cluster.nodes = nominal.cluster.nodes;
  cluster.intra = nominal.cluster.intra;
  cluster.fabric = nominal.cluster.fabric;
  cluster.machines_push = nominal.cluster.machines_push;
  const Network& network = nominal.cluster.network;
  cluster.network.latency_s = network.latency_s;
  cluster.network.delay_s = network.delay_s;
  cluster.network.bandwidth_Bps = network.bandwidth_Bps;
  cluster.network.block_latency_s = network.block_latency_s;
  cluster.network.efficiency = network.efficiency;
  Training& training = scenario.training;
  training.sync = nominal.training.sync;
  training.overlap = nominal.training.overlap;
  training.sharding.parameter_compression = nominal.training.sharding.parameter_compression;
  training.local.outer_compression = nominal.training.local.outer_compression;
  training.local.outer_network = nominal.training.local.outer_network;
  collectives::Compression& compression = scenario.communication.compression;
  compression.encode_Bps = nominal.compression.encode_Bps;
  compression.decode_Bps = nominal.compression.decode_Bps;
  compression.slowdown = nominal.compression.slowdown;
}

// Whatever `scenario` was under before, of the same nominal parts but for nodes and network.
void put_under(const FactorValues& factors, const Nominal& nominal, Scenario& scenario) {
  put_back(nominal, scenario);
  scenario.other_jobs = nominal.other_jobs;
  scenario.communication.question = nominal.question;
  scenario.conditions.factors = factors;
  scenario.conditions.links.clear();
  scenario.conditions.shortened.clear();
  const std::vector<double> before = std::exchange(scenario.conditions.computing, {});
  Values values{};
  std::ranges::transform(factors, values.begin(), &FactorValue::value);
  const LossQuestion question = loss_question(scenario);
  const Losses lost = losses(question, values);
  const bool links = links_lose(scenario);
  const bool slows = exchanges(scenario) && !scenario.training.overlap_given;
  const FactorSet jobs = apply_to_other_jobs(question, values, scenario);
  const FactorSet outer =
      exchanges(scenario) ? apply_to_outer_network(question, values, scenario) : FactorSet{};
  std::vector<Factor>& used = scenario.conditions.used;
  used.clear();
  for (std::size_t i = 0; i < kFactorCount; ++i) {
    const auto factor = static_cast<Factor>(i);
    const bool is_slowdown = factor == Factor::s_net || factor == Factor::s_bus;
    if (outer[i] || (is_plain(factor) ? lost.factors[i] || jobs[i]
                                      : lost.factors[i] && (is_slowdown ? slows : links))) {
      used.push_back(factor);
    }
  }
  if (links) {
    apply_links(question, lost, scenario);
  } else if (question.servers == ServersOn::machines && !has_curve(scenario)) {
    scenario.cluster.network.bandwidth_Bps *=
        static_cast<double>(scenario.cluster.nics_of_domain()); // of a machine, as measured
    scenario.cluster.machines_push = true;
  }
  if (slows && question.servers == ServersOn::none) {
    scenario.training.overlap.compute.fill(lost.interference);
  }
  append({lost.computing}, scenario.conditions.computing);
  scenario.conditions.alone = lost.alone / lost.computing;
  if (scenario.conditions.computing != before) {
    slow_down(lost.computing, nominal.workload, scenario.workload);
  }
  slow_operators(lost.computing, scenario);
  scenario.conditions.hides_transfers =
      links && question.links != LinkModel::library && !question.starts_measured &&
      (question.servers != ServersOn::none || question.by_priority);
}

} // namespace

void apply_conditions(Scenario& scenario) {
  if (!is_typical(scenario)) {
    return;
  }
  scenario.nominal = Nominal{.cluster = scenario.cluster,
                             .training = scenario.training,
                             .workload = scenario.workload,
                             .other_jobs = scenario.other_jobs,
                             .compression = scenario.communication.compression,
                             .question = scenario.communication.question};
  renew_conditions(scenario);
}

void renew_conditions(Scenario& scenario) {
  if (scenario.nominal) {
    put_under(scenario.conditions.factors, *scenario.nominal, scenario);
  }
}

Scenario nominal_of(const Scenario& scenario) {
  Scenario out = scenario;
  if (const auto& nominal = scenario.nominal) {
    out.cluster = nominal->cluster;
    out.training = nominal->training;
    out.workload = nominal->workload;
    out.other_jobs = nominal->other_jobs;
    out.communication.compression = nominal->compression;
    out.communication.question = nominal->question;
  }
  return out;
}

Scenario with_factors(const Scenario& scenario, const FactorValues& factors) {
  Scenario out = scenario;
  put_under(factors, *scenario.nominal, out);
  return out;
}

bool move_factor(const Scenario& scenario, Factor factor, double deviations, Scenario& out) {
  FactorValues factors = scenario.conditions.factors;
  part(factors, factor) = moved(factor, factors[static_cast<std::size_t>(factor)], deviations);
  out.variability.seed = scenario.variability.seed;
  put_under(factors, *scenario.nominal, out);
  return out.conditions.links != scenario.conditions.links ||
         out.conditions.computing != scenario.conditions.computing ||
         out.training.overlap.compute != scenario.training.overlap.compute;
}

Scenario with_scaled_computing(const Scenario& scenario, double factor) {
  Scenario out = scenario;
  slow_down(factor, scenario.workload, out.workload);
  for (OtherJob& job : out.other_jobs) {
    if (job.workload.interval) {
      slow_down(factor, job.workload, job.workload);
    }
  }
  slow_operators(factor, out);
  out.conditions.computing.push_back(factor);
  return out;
}

} // namespace stepsim::study
