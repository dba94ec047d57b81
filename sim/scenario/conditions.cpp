#include "scenario/conditions.hpp"

#include <algorithm>
#include <cmath>

namespace stepsim::study {

namespace {

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
  return (is_plain(factor) ? high - low : std::log(high / low)) / (2 * kDeviationsOf80);
}

} // namespace stepsim::study
