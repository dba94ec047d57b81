// Every equation takes its factors by name, so that a step knows which ones counted.
// What the losses of a scenario depend on: who moves which bytes, and which of its rates are
// nominal.
#include "scenario/scenario_conditions.hpp"

#include <cmath>

namespace stepsim::study {

namespace {

// Up to this rate the network of a machine is one card, bytes/s.
constexpr double kOneCard = 12.5e9;
// Networks of rented machines that have the rate of their kind, bytes/s.
constexpr double kCloudFrom = 1.6e9;
constexpr double kCloudTo = 6e9;

// Gives values of factors, and remembers which ones counted.
class Taken {
public:
  explicit Taken(const std::array<double, kFactorCount>& values) : values_(values) {}
  double operator()(Factor factor) {
    factors_.set(static_cast<std::size_t>(factor));
    return values_[static_cast<std::size_t>(factor)];
  }
  [[nodiscard]] const FactorSet& factors() const { return factors_; }

private:
  const std::array<double, kFactorCount>& values_;
  FactorSet factors_;
};

double bus_rate(const LossQuestion& question, Taken& take) {
  return question.bus_Bps * (question.bus_measured         ? 1
                             : question.bus == Bus::pcie   ? take(Factor::e_pcie)
                             : question.bus == Bus::nvlink ? take(Factor::e_nvlink)
                                                           : take(Factor::e_xgmi));
}

// Servers lower the rate of RDMA, and of TCP the rate of a connection alone.
double network_rate(const LossQuestion& question, Taken& take) {
  if (question.network_measured || question.links == LinkModel::packets) {
    return question.network_Bps;
  }
  const auto of_servers = [&] {
    return question.servers == ServersOn::machines ? take(Factor::e_ps) : 1;
  };
  if (question.carrier == Carrier::rdma) {
    const bool over_pcie = question.gpus == 1 || question.bus == Bus::pcie;
    return question.network_Bps * of_servers() *
           take(over_pcie                          ? Factor::e_rdma_pcie
                : question.network_Bps <= kOneCard ? Factor::e_rdma_one
                                                   : Factor::e_rdma_many);
  }
  const double payload = question.network_Bps * take(Factor::e_tcp);
  const bool rented = question.carrier == Carrier::tcp_cloud &&
                      question.network_Bps >= kCloudFrom && question.network_Bps <= kCloudTo;
  const double most = of_servers() * take(rented ? Factor::c_cloud : Factor::c_tcp);
  return std::pow(std::pow(payload, -4) + std::pow(most, -4), -0.25);
}

// What is lost by whoever hands messages over, at any link.
double coordinator_share(const LossQuestion& question, Taken& take) {
  const bool measured =
      crosses_network(question) ? question.network_measured : question.bus_measured;
  if (question.links == LinkModel::library || measured) { // contained
    return 1;
  }
  const bool adds = question.host_reduction && question.servers == ServersOn::none;
  return (adds ? take(Factor::e_host) : 1) * (question.by_priority ? take(Factor::e_sched) : 1);
}

Factor start_of(const LossQuestion& question) {
  return question.by_priority                  ? Factor::a_sched
         : question.servers != ServersOn::none ? Factor::a_server
         : question.fuses_by_time              ? Factor::a_horovod
                                               : Factor::a_nccl;
}

double hop_latency(const LossQuestion& question, Taken& take) {
  const double hop = take(question.carrier == Carrier::rdma ? Factor::h_rdma : Factor::h_tcp);
  const auto machines = static_cast<double>(question.machines);
  const auto ranks = static_cast<double>(question.ranks);
  return hop * std::min(2 * (machines - 1), 4 * std::log2(machines)) / (2 * (ranks - 1));
}

double computing_loss(const LossQuestion& question, std::int64_t ranks, Taken& take) {
  if (ranks == question.measured_gpus) {
    return 1;
  }
  const double first = take(Factor::l_0);
  const double low = question.reduced_precision ? take(Factor::l_low) : 0;
  const double doubling = take(Factor::l_1);
  const auto loss = [&](std::int64_t workers) {
    return (workers > 1 ? first + low : 0) + doubling * std::log2(static_cast<double>(workers));
  };
  const double shared = question.micro_batches > 1
                            ? std::pow(static_cast<double>(question.micro_batches), take(Factor::q))
                            : 1;
  return std::exp((loss(ranks) - loss(question.measured_gpus)) / shared);
}

// What the user measured wins: times of whole exchanges, or what a calibration contains.
bool measures_exchanges(const Scenario& nominal) {
  if (nominal.communication.question) {
    return false;
  }
  const LossQuestion question = loss_question(nominal);
  return nominal.cluster.network.curve ||
         (question.starts_measured && (!crosses_network(question) || question.network_measured) &&
          (!crosses_bus(question) || question.bus_measured));
}

// Machines that an NVLink domain joins count as one. Of several jobs the largest decides.
std::int64_t machines_of(const Scenario& nominal) {
  std::int64_t nodes = nominal.other_jobs.empty() ? nominal.cluster.nodes : nominal.first_job_nodes;
  for (const OtherJob& job : nominal.other_jobs) {
    nodes = std::max(nodes, job.nodes);
  }
  return std::max<std::int64_t>(1, nodes / nominal.cluster.nvlink_domain_nodes);
}

ServersOn servers_on(const Scenario& nominal, std::int64_t machines) {
  const Communication& communication = nominal.communication;
  if (!communication.has_servers()) {
    return ServersOn::none;
  }
  // Beside one machine a network that says who moves its bytes leads to other machines.
  const bool apart =
      communication.dedicated_servers() > 0 && nominal.cluster.network.carrier.has_value();
  return apart || machines > 1 ? ServersOn::machines : ServersOn::host;
}

LinkModel link_model_of(const Scenario& nominal) {
  return nominal.communication.question                              ? LinkModel::library
         : nominal.cluster.network.model == NetworkModel::alpha_beta ? LinkModel::alpha_beta
         : nominal.cluster.network.model == NetworkModel::flow       ? LinkModel::fabric
                                                                     : LinkModel::packets;
}

// A rate of the node type that is not of its data sheet has been reached by messages.
bool is_of_sheet(const Scenario& nominal, bool of_sheet, std::string_view pointer) {
  const auto& overrides = nominal.cluster.overrides;
  return of_sheet && nominal.communication.question->calibration == nullptr &&
         std::ranges::find(overrides, pointer, &Override::pointer) == overrides.end();
}

// Where nothing replaces a rate of the node type: a fitted one contains its share already (CON 2),
// and in place of any other one comes that of the data sheet, of which the share was found;
// `payload` of a line is data, 0 where a ring takes a part of the links of the sheet.
void take_nominal(const nccl::RateOrigin& origin, double payload, double& rate_Bps,
                  bool& measured) {
  measured = origin.fitted;
  if (!measured && origin.nominal_Bps > 0 && payload > 0) {
    rate_Bps = payload * origin.nominal_Bps;
  }
}

void take_nominal_rates(const Scenario& nominal, double of_cards, LossQuestion& question) {
  const Cluster& cluster = nominal.cluster;
  if (!cluster.node) {
    return;
  }
  const bool calibrated = nominal.communication.library_settings.calibration != nullptr;
  const nccl::NodeLinks& links = cluster.node->links;
  if (question.links != LinkModel::packets && cluster.network.calibration.empty() &&
      cluster.network.bandwidth_Bps == links.network_Bps) {
    nccl::RateOrigin origin = cluster.node->type.nic_origin;
    origin.fitted = origin.fitted || calibrated;
    take_nominal(origin, of_cards * (question.carrier == Carrier::rdma ? 1 : kTcpPayload),
                 question.network_Bps, question.network_measured);
  }
  if (cluster.intra && cluster.intra_calibration.empty() &&
      cluster.intra->per_byte_s == 1 / links.inner_Bps) {
    nccl::RateOrigin origin = cluster.node->type.ring_origin;
    origin.fitted = origin.fitted || calibrated;
    const double payload = question.bus == Bus::pcie ? kPciePayload
                           : question.bus == Bus::nvlink && !cluster.node->type.approximate ? 1
                                                                                            : 0;
    take_nominal(origin, payload, question.bus_Bps, question.bus_measured);
  }
}

// Rates of the links as they are; a topology's own are no node type's.
void set_rates(const Scenario& nominal, LossQuestion& question) {
  const Cluster& cluster = nominal.cluster;
  const auto cards = static_cast<double>(cluster.nics_of_domain());
  const bool own_topology = cluster.fabric && !cluster.topology.is_null();
  if (const auto& asked = nominal.communication.question) {
    question.network_Bps = asked->node.nic_Bps * cards;
    question.bus_Bps = asked->node.ring_Bps;
    question.network_measured = !is_of_sheet(nominal, asked->node.nic_origin.of_sheet,
                                             kNetworkPointer<&Network::bandwidth_Bps>);
    question.bus_measured = !is_of_sheet(nominal, asked->node.ring_origin.of_sheet,
                                         kIntraPointer<&Network::bandwidth_Bps>);
    return;
  }
  const double of_cards = cluster.network.efficiency * cards;
  question.network_Bps =
      cluster.fabric ? rate_out_of_machine(cluster) : cluster.network.bandwidth_Bps * of_cards;
  question.bus_Bps = inner_rate(cluster);
  if (own_topology) {
    return;
  }
  take_nominal_rates(nominal, of_cards, question);
  question.network_measured = question.network_measured || cluster.network.measured.rate;
  question.bus_measured =
      question.bus_measured || cluster.intra_measured.rate || (!cluster.fabric && !cluster.intra);
  question.starts_measured =
      crosses_network(question) ? cluster.network.measured.start : cluster.intra_measured.start;
}

} // namespace

NetworkLoss network_loss(const LossQuestion& question,
                         const std::array<double, kFactorCount>& values) {
  Taken take(values);
  const double rate = network_rate(question, take);
  return {.Bps = rate, .factors = take.factors()};
}

Losses losses(const LossQuestion& question, const std::array<double, kFactorCount>& values) {
  Losses out;
  Taken take(values);
  const bool network = crosses_network(question);
  const bool bus = crosses_bus(question);
  if (network || bus) {
    const double share = coordinator_share(question, take);
    out.bus_Bps = bus ? bus_rate(question, take) * share : 0;
    out.network_Bps = network ? network_rate(question, take) * share : 0;
    out.ring_Bps = !bus       ? out.network_Bps
                   : !network ? out.bus_Bps
                              : std::min(out.network_Bps, out.bus_Bps);
    const bool starts = question.links != LinkModel::library && !question.starts_measured;
    out.message_s = starts ? take(start_of(question)) : 0;
    if (question.servers == ServersOn::none) {
      const bool inside = !network && question.bus != Bus::pcie;
      out.interference = take(inside ? Factor::s_bus : Factor::s_net);
    }
  }
  if (network && question.servers == ServersOn::none && question.links == LinkModel::alpha_beta &&
      !question.starts_measured) {
    out.hop_s = hop_latency(question, take);
  }
  out.computing = computing_loss(question, question.ranks, take);
  out.factors = take.factors();
  out.alone = computing_loss(question, 1, take);
  return out;
}

std::int64_t measured_gpus(const layers::Workload& workload, const WorkloadSource& source) {
  constexpr std::int64_t kOfEstimates = 8;
  const auto& estimate = source.profile.estimate;
  const bool is_scaled = estimate && estimate->measured; // to a step of one GPU
  return workload.measured_ranks.value_or(estimate && !is_scaled ? kOfEstimates
                                                                 : source.measured_gpus);
}

double inner_rate(const Cluster& cluster) {
  return cluster.intra ? 1 / cluster.intra->per_byte_s : cluster.fabric ? 1 : 0;
}

LossQuestion loss_question(const Scenario& nominal) {
  const Cluster& cluster = nominal.cluster;
  const std::int64_t machines = machines_of(nominal);
  LossQuestion question{
      .machines = machines,
      .gpus = cluster.gpus_of_domain(),
      .ranks = nominal.other_jobs.empty() ? cluster.ranks()
                                          : nominal.first_job_nodes * cluster.gpus_per_node,
      .carrier = cluster.network.carrier.value_or(Carrier::rdma),
      .bus = bus_of(cluster).value_or(Bus::pcie),
      .links = link_model_of(nominal),
      .servers = servers_on(nominal, machines),
      .fuses_by_time = nominal.communication.schedule == buckets::Schedule::horovod,
      .by_priority = nominal.communication.schedule == buckets::Schedule::priority,
      .host_reduction = nominal.communication.host_reduction,
      .reduced_precision = reduced_precision(nominal.training, nominal.workload_source),
      .measured_gpus = measured_gpus(nominal.workload, nominal.workload_source),
      .micro_batches = nominal.training.micro_batches};
  set_rates(nominal, question);
  return question;
}

bool links_lose(const Scenario& nominal) {
  return exchanges(nominal) && !measures_exchanges(nominal);
}

} // namespace stepsim::study
