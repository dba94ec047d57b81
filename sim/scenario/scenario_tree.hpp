#pragma once
// Writes a scenario as a tree, which a result contains and a sweep hashes.
#include "scenario/scenario.hpp"
#include "json/json.hpp"

namespace stepsim::study {

// The tree of all keys with their resolved values. Keys without a meaning are left out, so that
// parse_scenario() accepts the tree and reads the same scenario. One key with a meaning is left
// out, too: `baseline` of a compression.
[[nodiscard]] io::Json scenario_tree(const Scenario& scenario);

} // namespace stepsim::study
