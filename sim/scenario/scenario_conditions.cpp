#include "scenario/scenario_conditions.hpp"

#include "document/json_text.hpp"
#include "scenario/files/import_source.hpp"
#include "scenario/keys/conditions_keys.hpp"
#include "scenario/node_counts.hpp"

namespace stepsim::study {

namespace {

// Words of what has no typical conditions, and why; empty where all is defined.
std::string undefined_part(const Scenario& scenario, const LossQuestion& question) {
  const Cluster& cluster = scenario.cluster;
  const bool servers = question.servers != ServersOn::none;
  const bool on_machines = question.servers == ServersOn::machines;
  const bool async = scenario.training.algorithm == TrainingAlgorithm::parameter_server &&
                     scenario.training.async();
  if (question.links == LinkModel::packets && (servers || question.by_priority)) {
    return std::string(servers ? "parameter servers" : "schedule priority") +
           " on a network of packets: its transport has no run without transfers";
  }
  if (on_machines && question.links != LinkModel::alpha_beta && cluster.gpus_of_domain() > 1) {
    return "parameter servers on a simulated network with several GPUs per machine: a machine "
           "pushes once for all of its GPUs";
  }
  if (async && question.links != LinkModel::alpha_beta) {
    return "asynchronous servers on a simulated network: a push has no start of its own there";
  }
  if (async && on_machines && cluster.gpus_of_domain() > 1) {
    return "asynchronous servers with several GPUs per machine: a machine pushes once for all of "
           "its GPUs, which wait for one another";
  }
  const collectives::Options& options = scenario.communication.options;
  if (on_machines && options.placement == collectives::Placement::colocated &&
      options.servers > question.machines) {
    return "more colocated servers than machines: a machine is one worker";
  }
  const auto& outer = scenario.training.local.outer_network;
  if (outer && outer->bandwidth_Bps && !outer->transport) {
    return "an outer_network whose transport is not given: /training/outer_network/transport must "
           "be rdma, tcp or tcp_cloud";
  }
  const bool one_slowdown = question.bus == Bus::pcie || scenario.training.overlap_given;
  const bool alone = scenario.first_job_nodes == 1;
  if (!one_slowdown && std::ranges::any_of(scenario.other_jobs, [alone](const OtherJob& job) {
        return (job.nodes == 1) != alone;
      })) {
    return "jobs on one machine beside jobs on several: computing slows down differently; give "
           "/training/overlap";
  }
  return "";
}

} // namespace

bool reduced_precision(const Training& training, const WorkloadSource& source) {
  if (training.reduced_precision) {
    return *training.reduced_precision;
  }
  const auto& estimate = source.profile.estimate;
  return estimate && layers::kPrecisions[estimate->precision] != "fp32" &&
         layers::kPrecisions[estimate->precision] != "tf32";
}

std::optional<Bus> bus_of(const Cluster& cluster) {
  const bool by_topology = cluster.fabric && cluster.fabric->fabric().gpus_per_machine > 0;
  return cluster.bus || !by_topology ? cluster.bus : Bus::nvlink;
}

void parse_conditions(io::Fields& top, const ParseContext& context, Scenario& scenario) {
  top.object("conditions", [&](io::Fields& fields) {
    Conditions& conditions = scenario.conditions;
    conditions.kind = fields.word("kind", kConditionsKinds);
    const io::Json* file = fields.any("file");
    if (conditions.kind == ConditionsKind::ideal) {
      (void)fields.any("factors");
      return;
    }
    conditions.file = fields.string("file", "");
    conditions.factors =
        context.files.conditions(conditions.file.empty() ? io::Json("typical") : *file);
    fields.object("factors", [&](io::Fields& factors) {
      for (std::size_t i = 0; i < kFactorCount; ++i) {
        const auto factor = static_cast<Factor>(i);
        if (const io::Json* value = factors.any(kFactors[factor])) {
          conditions.factors[i] = read_factor(*value, factor, context.problems);
        }
      }
    });
  });
}

void check_conditions(const io::Json& tree, io::Problems& problems, const Scenario& scenario) {
  if (!is_typical(scenario)) {
    return;
  }
  const io::Json& place = *tree.find("conditions");
  const LossQuestion question = loss_question(scenario);
  if (const std::string what = undefined_part(scenario, question); !what.empty()) {
    problems.add(place, "typical conditions are not defined for " + what);
  }
  if (!links_lose(scenario)) {
    return;
  }
  const Cluster& cluster = scenario.cluster;
  const bool by_transport = question.links == LinkModel::packets; // which loses rate by itself
  const bool loses = !question.network_measured || !question.starts_measured;
  if (crosses_network(question) && loses && !by_transport && !cluster.network.carrier) {
    problems.add(*io::resolve(tree, "/cluster/network"), "transport",
                 "required with typical conditions: rdma, tcp or tcp_cloud");
  }
  if (cluster.gpus_of_domain() > 1 && !bus_of(cluster)) {
    const io::Json* intra = io::resolve(tree, "/cluster/intra_network");
    problems.add(intra != nullptr ? *intra : *tree.find("cluster"), "bus",
                 "required with typical conditions: pcie, nvlink or xgmi");
  }
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
constexpr std::string_view kOnlyTypical =
    "/conditions/factors /conditions/file /cluster/network/transport "
    "/cluster/intra_network/bus /workload/measured/gpus /training/reduced_precision "
    "/communication/host_reduction /training/outer_network/transport";

} // namespace

void set_conditions(ConditionsKind kind, io::Json& tree) {
  io::assign(tree, "/conditions/kind", kConditionsKinds[kind]);
  for (const std::string_view pointer : io::words_of(kOnlyTypical)) {
    if (kind == ConditionsKind::ideal && io::resolve(tree, pointer) != nullptr) {
      io::assign(tree, pointer, nullptr);
    }
  }
}

namespace {

constexpr std::array kConditionsRules{
    KeyRule{kOnlyTypical, "conditions are typical", is_typical,
            [](const Scenario&) { return std::string("ideal conditions"); }},
    KeyRule{"/communication/host_reduction", "ranks add the gradients, by no library",
            [](const Scenario& s) {
              return s.communication.collective != collectives::AlgorithmId::parameter_server &&
                     !s.communication.question;
            },
            asked_collective}};

} // namespace

std::span<const KeyRule> conditions_rules() { return kConditionsRules; }

namespace {

// The machine of every host: of those without ranks, a number that no machine with ranks has.
std::vector<std::uint32_t> machines_of_hosts(const Cluster& cluster) {
  const links::Fabric& fabric = cluster.fabric->fabric();
  const std::uint32_t size = std::max(1U, fabric.gpus_per_machine);
  const auto idle = static_cast<std::uint32_t>(cluster.nodes);
  std::vector<std::uint32_t> machine_of(fabric.hosts);
  for (links::NodeId host = 0; host < fabric.hosts; ++host) {
    machine_of[host] = idle + host / size;
  }
  for (std::int64_t node = 0; node < cluster.nodes; ++node) {
    const auto machine = static_cast<std::uint32_t>(node / cluster.nvlink_domain_nodes);
    for (std::uint32_t rank = first_rank(cluster, node); rank < first_rank(cluster, node + 1);
         ++rank) {
      const links::NodeId first = cluster.fabric->hosts[rank] / size * size;
      std::fill_n(machine_of.begin() + first, size, machine);
    }
  }
  return machine_of;
}

links::MachineLinks machine_links_of(const Cluster& cluster) {
  return links::machine_links(cluster.fabric->fabric(), machines_of_hosts(cluster));
}

// The fabric with the rates that `rate_of` gives each link.
template <class RateOf> auto with_rates(const links::RankFabric& ranks, const RateOf& rate_of) {
  links::Fabric fabric = ranks.fabric();
  for (links::LinkId link = 0; link < fabric.links.size(); ++link) {
    double& rate = fabric.links[link].bandwidth_Bps;
    rate = std::max(1.0, rate_of(link, rate));
  }
  links::RankFabric out = ranks;
  out.network = std::make_shared<const links::RoutedFabric>(std::move(fabric), ranks.routes());
  return std::make_shared<const links::RankFabric>(std::move(out));
}

} // namespace

double rate_out_of_machine(const Cluster& cluster) { return machine_links_of(cluster).out_Bps; }

void scale_links(double into_machine, double inside, Cluster& cluster) {
  const links::MachineLinks machines = machine_links_of(cluster);
  cluster.fabric = with_rates(*cluster.fabric, [&](links::LinkId link, double rate) {
    const links::LinkPlace place = machines.places[link];
    return rate * (place == links::LinkPlace::border   ? into_machine
                   : place == links::LinkPlace::inside ? inside
                                                       : 1);
  });
}

void set_link_rates(double rate_Bps, Cluster& cluster) {
  cluster.fabric =
      with_rates(*cluster.fabric, [rate_Bps](links::LinkId, double) { return rate_Bps; });
}

// The two runs of a scenario whose starts of messages and transfers hide behind each other.

namespace {

// Rate of links that take no time, bytes/s.
constexpr double kInfinite = 1e14;

} // namespace

// Latencies of a simulated network belong to its links and stay.
Scenario without_starts(const Scenario& scenario) {
  Scenario out = scenario;
  out.conditions.hides_transfers = false;
  out.training.sync = scenario.nominal->training.sync;
  if (!scenario.cluster.fabric) {
    Network& network = out.cluster.network;
    network.latency_s = network.block_latency_s = 0;
    if (auto& intra = out.cluster.intra) {
      intra->latency_s = intra->block_latency_s = 0;
    }
  }
  return out;
}

Scenario without_transfers(const Scenario& scenario) {
  Scenario out = scenario;
  out.conditions.hides_transfers = false;
  Cluster& cluster = out.cluster;
  cluster.network.bandwidth_Bps = kInfinite;
  cluster.network.efficiency = 1;
  if (cluster.intra) {
    cluster.intra->per_byte_s = 1 / kInfinite;
  }
  if (cluster.fabric) {
    set_link_rates(kInfinite, cluster);
  }
  if (auto& outer = out.training.local.outer_network; outer && outer->bandwidth_Bps) {
    outer->bandwidth_Bps = kInfinite;
  }
  return out;
}

} // namespace stepsim::study
