#pragma once
// Takes keys out of a scenario that lost their meaning when another key was changed.
#include <functional>
#include <string_view>
#include <vector>

#include "document/json.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

// Drops from `tree` the keys that parse_scenario() refuses because they have no meaning there, one
// after the other, as one may have none only because of another one, and adds them to `dropped`.
// Only keys at pointers for which `may` is true are dropped. Returns the scenario; throws what
// parse_scenario() throws about the rest.
Scenario without_leftovers(io::Json& tree, Files& files,
                           const std::function<bool(std::string_view pointer)>& may,
                           std::vector<MeaninglessKey>& dropped);

} // namespace stepsim::study
