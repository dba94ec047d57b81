#pragma once
// Local SGD and DiLoCo as programs (TRN 4.8, 4.9): what a round computes and sends, and how long
// its outer exchanges take.
#include "run/scenario_program.hpp"

namespace stepsim::study {

// Fills units, plan, method and events of `out`: with inner step a unit is a fragment, or a layer
// with outer_gate layer; with inner sync_sgd the buckets of an island come first.
[[nodiscard]] program::Program make_rounds(const Scenario& scenario, ScenarioProgram& out);

// Layers of every fragment, from 0 in forward order, ascending.
[[nodiscard]] std::vector<std::vector<std::uint32_t>>
layers_of_fragments(std::uint32_t layers, std::uint32_t fragments, FragmentPattern pattern);

} // namespace stepsim::study
