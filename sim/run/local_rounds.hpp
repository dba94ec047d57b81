#pragma once
// Local SGD and DiLoCo as programs (TRN 4.8, 4.9): what a round computes and sends, and how long
// its outer exchanges take.
#include "run/scenario_program.hpp"

namespace stepsim::study {

// Makes the program whose iteration is one round, and fills units, plan, method and events of
// `out`. Every outer message is a unit: a fragment, or a layer if the key outer_gate is "layer". If
// the key inner is "sync_sgd", the buckets of an island are units, too, and come first.
[[nodiscard]] programs::Program make_rounds(const Scenario& scenario, ScenarioProgram& out);

// Times the outer exchanges of a program of make_rounds() without islands for this scenario, which
// may differ from that of the program in nodes, latency and bandwidth.
void time_rounds(const Scenario& scenario, ScenarioProgram& made);

// Element f lists the layers of fragment f in ascending order, numbered from 0 in forward order.
[[nodiscard]] std::vector<std::vector<std::uint32_t>>
layers_of_fragments(std::uint32_t layers, std::uint32_t fragments, FragmentPattern pattern);

} // namespace stepsim::study
