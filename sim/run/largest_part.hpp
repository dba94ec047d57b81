#pragma once
// Finds the bottleneck of the messages of a plan: the part of their time that is longest. With
// alpha-beta links each part is timed with the costs of the other parts set to 0. On a fabric,
// messages of one byte give the latency, the time that free additions save is the reduction, and
// the rest of the time is the bandwidth. With compression, the time that links without latency save
// is the latency, the time that links of 1e12 times the bandwidth save is the bandwidth, and the
// rest is compression. With both, the times on the wire ("bandwidth") are compared with the times
// of compressing. The model of a library gives latency and transfer itself. A measured curve has no
// parts; its bottleneck is "bandwidth".
#include <span>
#include <string>

#include "buckets/problem.hpp"
#include "run/scenario_program.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

// "latency", "bandwidth", "reduction" or, for compressed exchanges only, "compression". `plan` must
// have a message; units[g] belongs to group g of `plan`.
[[nodiscard]] std::string largest_part(const Scenario& scenario, const buckets::Plan& plan,
                                       std::span<const ProgramUnit> units);

} // namespace stepsim::study
