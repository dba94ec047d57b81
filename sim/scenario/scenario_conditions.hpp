#pragma once
// Conditions of a scenario (CON): reading and writing their keys, and the scenario under them.

#include "scenario/losses.hpp"
#include "scenario/rules.hpp"

namespace stepsim::study {

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
// Gives all links one rate.
void set_link_rates(double rate_Bps, Cluster& cluster);

} // namespace stepsim::study
