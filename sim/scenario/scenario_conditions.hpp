#pragma once
// What a training step loses under conditions (CON 2), by the equations of its factors:
//
//     network of a machine   rdma: n' = e n         tcp: n' = ((e_tcp n)^-4 + c^-4)^(-1/4)
//     link in a machine      b' = e b
//     computing              k = exp((L(P) - L(P0)) / m^q),  L(p) = (l_0 + l_low) [p > 1] + l_1
//     log2 p
//
// Rates are bytes/s, times seconds.
#include <bitset>

#include "links/profile/profile.hpp"
#include "scenario/rules.hpp"

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
using FactorSet = std::bitset<kFactorCount>; // [Factor]
struct Losses {
  double network_Bps{};   // n', of a machine
  double bus_Bps{};       // b'
  double ring_Bps{};      // B: of a ring through all ranks
  double message_s{};     // a: once per message; half of it in the push to servers
  double hop_s{};         // lambda: latency of every hop
  double interference{1}; // s
  double computing{1};    // k
  double alone{1};        // k of one worker
  FactorSet factors;      // that counted
};
[[nodiscard]] Losses losses(const LossQuestion& question,
                            const std::array<double, kFactorCount>& values);
// n' alone, and the factors that it has.
struct NetworkLoss {
  double Bps{};
  FactorSet factors;
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

// Conditions of a scenario (CON): reading and writing their keys, and the scenario under them.

[[nodiscard]] inline bool is_typical(const Scenario& scenario) {
  return scenario.conditions.kind == ConditionsKind::typical;
}

// Reads /conditions, a word or an object.
void parse_conditions(io::Fields& top, const ParseContext& context, Scenario& scenario);
// Checks that the rest of the scenario, which must be known, can be under typical conditions.
void check_conditions(const io::Json& tree, io::Problems& problems, const Scenario& scenario);
// The link between the GPUs of a machine: as given, or NVLink where the topology says so.
[[nodiscard]] std::optional<links::Bus> bus_of(const Cluster& cluster);
// What a scenario with nominal rates asks of its losses.
[[nodiscard]] LossQuestion loss_question(const Scenario& nominal);
// Whether its links lose: not where the times or rates of its exchanges were measured.
[[nodiscard]] bool links_lose(const Scenario& nominal);
// Puts a scenario with nominal rates under its conditions; changes nothing if they are ideal.
void apply_conditions(Scenario& scenario);
// Whether a worker computes in 16 or 8 bits: as given, or as estimated for a GPU.
[[nodiscard]] bool reduced_precision(const Training& training, const WorkloadSource& source);
// Puts it under them again once scenario.nominal, if any, has other nodes, latency or bandwidth.
void renew_conditions(Scenario& scenario);

// The scenario with nominal rates: `scenario` itself under ideal conditions.
[[nodiscard]] Scenario nominal_of(const Scenario& scenario);
// The scenario under conditions with these factors.
[[nodiscard]] Scenario with_factors(const Scenario& scenario, const FactorValues& factors);
// Puts `out` under conditions with one factor moved by `deviations` standard deviations: a copy of
// `scenario`, or what this function made of it before its nodes, latency, bandwidth or seed were
// changed. False if `out` does not differ from `scenario`.
[[nodiscard]] bool move_factor(const Scenario& scenario, Factor factor, double deviations,
                               Scenario& out);
// The scenario with forward and backward `factor` times as long, those of other jobs where they are
// estimated.
[[nodiscard]] Scenario with_scaled_computing(const Scenario& scenario, double factor);

// The scenario under conditions whose messages start without delay, and the one whose links take no
// time for bytes: the two runs of which a scenario that hides transfers takes the longer one.
[[nodiscard]] Scenario without_starts(const Scenario& scenario);
[[nodiscard]] Scenario without_transfers(const Scenario& scenario);

// Puts a scenario, whose short forms are expanded, under these conditions: under ideal ones without
// the keys that count under typical ones alone.
void set_conditions(ConditionsKind kind, io::Json& tree);

// Writes the keys of a resolved scenario.
void add_conditions(const Scenario& scenario, io::Json& tree);
[[nodiscard]] std::span<const KeyRule> conditions_rules();

// The rates of the links of a simulated network, seen from the machines of a cluster. Nodes that an
// NVLink domain joins are one machine. `cluster.fabric` must be set.

// Returns the rate of all links out of the first machine together, bytes/s.
[[nodiscard]] double rate_out_of_machine(const Cluster& cluster);
// Returns the rate of a GPU inside its machine, bytes/s; where no link is known any rate will do on
// a fabric, since its share alone counts.
[[nodiscard]] double inner_rate(const Cluster& cluster);
// Returns the GPUs of the run that the times of computing are from. Those of an estimate are of the
// runs to which its shares of peak rates were fitted: they had 8 GPUs or more.
[[nodiscard]] std::int64_t measured_gpus(const layers::Workload& workload,
                                         const WorkloadSource& source);
// Multiplies the rates of links into machines and of links inside them; others and all latencies
// stay.
void scale_links(double into_machine, double inside, Cluster& cluster);

} // namespace stepsim::study
