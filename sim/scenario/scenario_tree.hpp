#pragma once
// Writes a scenario as a tree, which a result contains and a sweep hashes.
#include "scenario/scenario.hpp"
#include "json/json.hpp"

namespace stepsim::study {

// All keys with their resolved values. Keys without effect are left out, so that parse_scenario()
// reads the tree as the same scenario, except for `baseline` of a compression, which is left out,
// too.
[[nodiscard]] io::Json scenario_tree(const Scenario& scenario);

} // namespace stepsim::study
