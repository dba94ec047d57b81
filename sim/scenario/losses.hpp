#pragma once
// What a training step loses under conditions (CON 2), by the equations of its factors:
//
//     network of a machine   rdma: n' = e n         tcp: n' = ((e_tcp n)^-4 + c^-4)^(-1/4)
//     link in a machine      b' = e b
//     computing              k = exp((L(P) - L(P0)) / m^q),  L(p) = (l_0 + l_low) [p > 1] + l_1
//     log2 p
//
// Rates are bytes/s, times seconds.

#include "links/profile/profile.hpp"
#include "scenario/conditions.hpp"

namespace stepsim::study {

using links::Bus;
using links::Carrier;

// What is left of the rate of a line before any loss: for data in TCP, and on PCIe (CON 1).
inline constexpr double kTcpPayload = 0.949288;
inline constexpr double kPciePayload = 0.76;

// What gives the times of messages: latencies and rates of one kind of link for all, links of a
// simulated network, links of a simulated network below a transport that loses rate by itself, or
// the model of a library.
enum class LinkModel { alpha_beta, fabric, packets, library };
// Servers on machines, whose workers are machines too, or on the host of the one machine.
enum class ServersOn { none, machines, host };

// A training step as far as its losses depend on it.
struct LossQuestion {
  std::int64_t machines = 1; // N
  std::int64_t gpus = 1;     // G, of a machine
  std::int64_t ranks = 1;    // P
  double network_Bps{};      // n: of a machine, nominal
  double bus_Bps{};          // b, nominal
  Carrier carrier{};
  Bus bus{};
  LinkModel links{};
  bool network_measured = false; // its rate is what messages were found to reach
  bool bus_measured = false;
  bool starts_measured = false; // and what it costs to start them
  ServersOn servers{};
  bool fuses_by_time = false;     // Horovod
  bool by_priority = false;       // ByteScheduler
  bool host_reduction = false;    // sums on the host's processor
  bool reduced_precision = false; // computing in 16 or 8 bits
  std::int64_t measured_gpus = 1; // P0: of the run that the times of computing are from
  std::int64_t micro_batches = 1; // m
};
struct Losses {
  double network_Bps{};        // n', of a machine
  double bus_Bps{};            // b'
  double ring_Bps{};           // B: of a ring through all ranks
  double message_s{};          // a: once per message; half of it in the push to servers
  double hop_s{};              // lambda: latency of every hop
  double interference{1};      // s
  double computing{1};         // k
  double alone{1};             // k of one worker
  std::vector<Factor> factors; // that counted, in the order of the table
};
[[nodiscard]] Losses losses(const LossQuestion& question,
                            const std::array<double, kFactorCount>& values);
// n' alone, and the factors that it has.
struct NetworkLoss {
  double Bps{};
  std::vector<Factor> factors;
};
[[nodiscard]] NetworkLoss network_loss(const LossQuestion& question,
                                       const std::array<double, kFactorCount>& values);
// Whether messages cross the network, and the links inside a machine.
[[nodiscard]] constexpr bool crosses_network(const LossQuestion& question) {
  return question.machines > 1 || question.servers == ServersOn::machines;
}
[[nodiscard]] constexpr bool crosses_bus(const LossQuestion& question) {
  return question.gpus > 1 && question.servers != ServersOn::machines;
}

} // namespace stepsim::study
