#pragma once
// Fully sharded training of a scenario: layers are grouped into units, whose gathers and reductions
// are timed (TRN 4.5).
#include "run/scenario_program.hpp"

namespace stepsim::study {

// Fills units, method and events of `out`.
[[nodiscard]] program::Program make_sharded_units(const Scenario& scenario, ScenarioProgram& out);

} // namespace stepsim::study
