#include "scenario/scenario_conditions.hpp"

#include "document/json_text.hpp"
#include "scenario/files/import_source.hpp"
#include "scenario/keys/scenario_keys.hpp"
#include "scenario/node_counts.hpp"

namespace stepsim::study {

namespace {

// Words of what has no typical conditions, and why; empty where all is defined.
std::string undefined_part(const Scenario& scenario, const LossQuestion& question) {
  const Cluster& cluster = scenario.cluster;
  const bool servers = question.servers != ServersOn::none;
  const bool on_machines = question.servers == ServersOn::machines;
  const bool async = scenario.training.async();
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

// Keys that count under typical conditions alone.
constexpr std::string_view kOnlyTypical =
    "/conditions/factors /conditions/file /cluster/network/transport "
    "/cluster/intra_network/bus /workload/measured/gpus /training/reduced_precision "
    "/communication/host_reduction /training/outer_network/transport";

constexpr std::array kConditionsRules{
    KeyRule{kOnlyTypical, "conditions are typical", is_typical,
            "ideal conditions (/conditions/kind typical takes it)"},
    KeyRule{"/communication/host_reduction", "ranks add the gradients, by no library",
            [](const Scenario& s) {
              return !s.communication.has_servers() && !s.communication.question;
            },
            asked_collective}};

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

// Rate of links that take no time, bytes/s.
constexpr double kInfinite = 1e14;

// Gives all links one rate.
void set_link_rates(double rate_Bps, Cluster& cluster) {
  cluster.fabric =
      with_rates(*cluster.fabric, [rate_Bps](links::LinkId, double) { return rate_Bps; });
}

constexpr std::array<std::string_view, kFactorCount> kMeanings{
    "share of its rate that PCIe reaches in a ring",
    "share of its rate that NVLink reaches in a ring",
    "share of its rate that xGMI reaches in a ring",
    "share of the rate of TCP's payload on one's own switch",
    "rate of TCP over one connection per ring, bytes/s",
    "rate of TCP between rented machines, bytes/s",
    "share of a card's rate that RDMA reaches from GPUs on PCIe",
    "share of a machine's network that RDMA reaches, up to 100 Gbit/s",
    "share of a machine's network that RDMA reaches, above 100 Gbit/s",
    "share of the network's rate that parameter servers reach",
    "share of the rate that remains where the host's processor adds",
    "share of the rate that remains with ByteScheduler",
    "start of a message by NCCL, s",
    "start of a message by Horovod, s",
    "start of a push and its pull, s",
    "start of a message by ByteScheduler, s",
    "latency of a hop by TCP, s",
    "latency of a hop by RDMA, s",
    "slowdown of computing beside an exchange over PCIe or the network",
    "slowdown of computing beside an exchange over NVLink or xGMI",
    "loss of computing by having more than one worker",
    "loss of computing per doubling of the workers",
    "loss of computing by having more than one worker, added in reduced precision",
    "exponent of the micro-batches that share a loss"};

constexpr std::array<std::string_view, 1> kConditionsExamples{R"({
  "schema_version": 1, "kind": "conditions", "name": "mine",
  "factors": {}})"};

// Reads one factor: a number that is taken as known, or a value with its range. Problems are added.
FactorValue read_factor(const io::Json& json, Factor factor, io::Problems& problems) {
  const auto check = [&](const io::Json& place, double value) {
    const bool slows = factor == Factor::s_net || factor == Factor::s_bus;
    if (slows && value < 1) {
      problems.add(place, "must be >= 1, got " + base::shortest(value));
    } else if (!is_plain(factor) && !is_cost(factor) && value <= 0) {
      problems.add(place, "must be above 0, got " + base::shortest(value));
    }
  };
  if (!json.is_object()) {
    const FactorValue out{
        .value = io::checked_number(json, keys::kFactorValueForms[0].range, problems).value_or(1),
        .tau = 0};
    check(json, out.value);
    return out;
  }
  io::Fields fields(json, problems, keys::kFactorValueForms[1]);
  std::optional<double> value;
  if (fields.has("value")) {
    value = fields.optional_number("value");
  } else {
    (void)fields.number("value"); // says that it is required
  }
  FactorValue out{.value = value.value_or(1), .tau = 0};
  const auto low = fields.optional_number("low");
  const auto high = fields.optional_number("high");
  const auto tau = fields.optional_number("tau");
  (void)fields.text("evidence");
  fields.no_more();
  if (tau && (low || high)) {
    problems.add(json, "give either tau or low and high");
  } else if (low.has_value() != high.has_value()) {
    problems.add(json, "give both low and high");
  } else if (low && value &&
             (*low > *value || *high < *value || (*low <= 0 && !is_plain(factor)))) {
    problems.refuse(json, "low, value and high must rise{}, got {}, {} and {}",
                    is_plain(factor) ? "" : " and be above 0", base::shortest(*low),
                    base::shortest(*value), base::shortest(*high));
  } else {
    out.tau = low ? tau_of_range(factor, *low, *high) : tau.value_or(0);
  }
  if (value) {
    check(*json.find("value"), *value);
  }
  return out;
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
          conditions.given.push_back(factor);
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

// A factor that the scenario gives may count in the step of one worker alone.
void add_conditions(const Scenario& scenario, io::Json& tree) {
  if (!is_typical(scenario)) {
    return;
  }
  const Conditions& conditions = scenario.conditions;
  io::Json factors{io::Object{}};
  std::vector<Factor> written;
  std::set_union(conditions.used.begin(), conditions.used.end(), conditions.given.begin(),
                 conditions.given.end(), std::back_inserter(written));
  for (const Factor factor : written) {
    const FactorValue& value = conditions.factors[static_cast<std::size_t>(factor)];
    factors.set(std::string(kFactors[factor]),
                io::Object{{"value", value.value}, {"tau", value.tau}});
  }
  io::Json part =
      io::Object{{"kind", kConditionsKinds[conditions.kind]}, {"factors", std::move(factors)}};
  io::set_given(part, "file", conditions.file);
  tree.set("conditions", std::move(part));
}

void set_conditions(ConditionsKind kind, io::Json& tree) {
  io::assign(tree, "/conditions/kind", kConditionsKinds[kind]);
  for (const std::string_view pointer : io::words_of(kOnlyTypical)) {
    if (kind == ConditionsKind::ideal && io::resolve(tree, pointer) != nullptr) {
      io::assign(tree, pointer, nullptr);
    }
  }
}

std::span<const KeyRule> conditions_rules() { return kConditionsRules; }

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

// The two runs of a scenario whose starts of messages and transfers hide behind each other.

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

std::string_view meaning(Factor factor) { return kMeanings[static_cast<std::size_t>(factor)]; }

double moved(Factor factor, const FactorValue& value, double deviations) {
  if (is_plain(factor)) {
    return std::max(0.0, value.value + deviations * value.tau);
  }
  const double other = value.value * std::exp(deviations * value.tau);
  const bool slowdown = factor == Factor::s_net || factor == Factor::s_bus;
  return slowdown ? std::max(1.0, other) : other;
}

double value_without_loss(Factor factor) {
  constexpr double kNoCap = 1e300; // bytes/s
  const bool is_cap = factor == Factor::c_tcp || factor == Factor::c_cloud;
  return is_plain(factor) || is_cost(factor) ? 0 : is_cap ? kNoCap : 1;
}

double tau_of_range(Factor factor, double low, double high) {
  return (is_plain(factor) ? high - low : std::log(high / low)) / (2 * kDeviationsOf80);
}

namespace keys {

io::FileKind conditions_file() { return {"conditions", &kConditionsFile, kConditionsExamples}; }

} // namespace keys

FactorValues parse_conditions_file(const io::Json& json) {
  io::FileFields fields(json, keys::kConditionsFile);
  (void)fields.text("note");
  FactorValues values{};
  if (const io::Json* factors = fields.any("factors"); factors != nullptr && factors->is_object()) {
    io::Fields each(*factors, fields.problems());
    std::vector<std::string_view> missing;
    for (std::size_t i = 0; i < kFactorCount; ++i) {
      const auto factor = static_cast<Factor>(i);
      if (const io::Json* value = each.any(kFactors[factor])) {
        values[i] = read_factor(*value, factor, fields.problems());
      } else {
        missing.push_back(kFactors[factor]);
      }
    }
    if (!missing.empty()) {
      fields.problems().add(*factors, "must have all factors; missing: " + base::joined(missing));
    }
    each.no_more();
  } else {
    fields.refuse("factors", "required (an object)");
  }
  fields.finish();
  return values;
}

} // namespace stepsim::study
