#include "scenario/conditions.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace stepsim::study {

namespace {

// 80 % of a normal distribution lie within so many standard deviations.
constexpr double kQuantile = 1.2815515655446004;

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
    "share of the rate that remains where the host's processor adds",
    "start of a message by NCCL, s",
    "start of a message by Horovod, s",
    "latency of a hop by TCP, s",
    "latency of a hop by RDMA, s",
    "slowdown of computing beside an exchange over PCIe or the network",
    "slowdown of computing beside an exchange over NVLink or xGMI",
    "loss of computing by having more than one worker",
    "loss of computing per doubling of the workers",
    "loss of computing by having more than one worker, added in reduced precision",
    "exponent of the micro-batches that share a loss"};

// Up to this rate the network of a machine is one card, bytes/s.
constexpr double kOneCard = 12.5e9;
// Networks of rented machines that have the rate of their kind, bytes/s.
constexpr double kCloudFrom = 1.6e9;
constexpr double kCloudTo = 6e9;

} // namespace

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
  return (is_plain(factor) ? high - low : std::log(high / low)) / (2 * kQuantile);
}

Losses losses(const LossQuestion& question, const std::array<double, kFactorCount>& values) {
  Losses out;
  const auto take = [&](Factor factor) {
    out.factors.push_back(factor);
    return values[static_cast<std::size_t>(factor)];
  };
  const bool over_network = question.machines > 1;
  const bool over_bus = question.gpus > 1;
  if (over_bus) {
    out.bus_Bps = question.bus_Bps * take(question.bus == Bus::pcie     ? Factor::e_pcie
                                          : question.bus == Bus::nvlink ? Factor::e_nvlink
                                                                        : Factor::e_xgmi);
  }
  if (over_network && question.carrier == Carrier::rdma) {
    out.network_Bps =
        question.network_Bps * take(!over_bus || question.bus == Bus::pcie ? Factor::e_rdma_pcie
                                    : question.network_Bps <= kOneCard     ? Factor::e_rdma_one
                                                                           : Factor::e_rdma_many);
  } else if (over_network) {
    const double payload = question.network_Bps * take(Factor::e_tcp);
    const bool rented = question.carrier == Carrier::tcp_cloud &&
                        question.network_Bps >= kCloudFrom && question.network_Bps <= kCloudTo;
    const double most = take(rented ? Factor::c_cloud : Factor::c_tcp);
    out.network_Bps = std::pow(std::pow(payload, -4) + std::pow(most, -4), -0.25);
  }
  if (over_network || over_bus) {
    const double host = question.host_reduction ? take(Factor::e_host) : 1;
    out.network_Bps *= host;
    out.bus_Bps *= host;
    out.ring_Bps = !over_bus       ? out.network_Bps
                   : !over_network ? out.bus_Bps
                                   : std::min(out.network_Bps, out.bus_Bps);
    out.message_s = take(question.fuses_by_time ? Factor::a_horovod : Factor::a_nccl);
    const bool inside = !over_network && question.bus != Bus::pcie;
    out.interference = take(inside ? Factor::s_bus : Factor::s_net);
  }
  if (over_network) {
    const double hop = take(question.carrier == Carrier::rdma ? Factor::h_rdma : Factor::h_tcp);
    const auto machines = static_cast<double>(question.machines);
    const auto ranks = static_cast<double>(question.ranks);
    out.hop_s = hop * std::min(2 * (machines - 1), 4 * std::log2(machines)) / (2 * (ranks - 1));
  }
  if (question.ranks != question.measured_gpus) {
    const double first = take(Factor::l_0);
    const double low = question.reduced_precision ? take(Factor::l_low) : 0;
    const double doubling = take(Factor::l_1);
    const auto loss = [&](std::int64_t workers) {
      return (workers > 1 ? first + low : 0) + doubling * std::log2(static_cast<double>(workers));
    };
    const double shared =
        question.micro_batches > 1
            ? std::pow(static_cast<double>(question.micro_batches), take(Factor::q))
            : 1;
    out.computing = std::exp((loss(question.ranks) - loss(question.measured_gpus)) / shared);
  }
  std::ranges::sort(out.factors);
  return out;
}

} // namespace stepsim::study
