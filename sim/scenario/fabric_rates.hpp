#pragma once
// The rates of the links of a simulated network, seen from the machines of a cluster. Nodes that an
// NVLink domain joins are one machine. `cluster.fabric` must be set.
#include "scenario/scenario.hpp"

namespace stepsim::study {

// Returns the rate of all links out of the first machine together, bytes/s.
[[nodiscard]] double rate_out_of_machine(const Cluster& cluster);
// Multiplies the rates of links into machines and of links inside them; others and all latencies
// stay.
void scale_links(double into_machine, double inside, Cluster& cluster);
// Gives all links one rate.
void set_link_rates(double rate_Bps, Cluster& cluster);

} // namespace stepsim::study
