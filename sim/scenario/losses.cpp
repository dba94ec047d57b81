// Every equation takes its factors by name, so that a step knows which ones counted.
#include "scenario/losses.hpp"

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
  explicit Taken(const std::array<double, kFactorCount>& values) : values_(values) {
    factors_.reserve(kFactorCount);
  }
  double operator()(Factor factor) {
    factors_.push_back(factor);
    return values_[static_cast<std::size_t>(factor)];
  }
  [[nodiscard]] std::vector<Factor> in_order() {
    std::ranges::sort(factors_);
    return std::move(factors_);
  }

private:
  const std::array<double, kFactorCount>& values_;
  std::vector<Factor> factors_;
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

} // namespace

NetworkLoss network_loss(const LossQuestion& question,
                         const std::array<double, kFactorCount>& values) {
  Taken take(values);
  const double rate = network_rate(question, take);
  return {.Bps = rate, .factors = take.in_order()};
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
  out.factors = take.in_order();
  out.alone = computing_loss(question, 1, take);
  return out;
}

} // namespace stepsim::study
