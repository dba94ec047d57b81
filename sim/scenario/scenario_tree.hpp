#pragma once
// A scenario back as a tree: what a result shows, and what a sweep hashes.
#include "scenario/scenario.hpp"
#include "json/json.hpp"

namespace stepsim::study {

// All keys with their resolved values; what does not apply is left out, so that `parse_scenario`
// reads the tree as the same scenario, but for `baseline` of a compression, which is left out too.
[[nodiscard]] io::Json scenario_tree(const Scenario& scenario);

} // namespace stepsim::study
