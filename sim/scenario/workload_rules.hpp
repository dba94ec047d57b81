#pragma once
// Rules of the keys that give the layer times of a model table (rules_table.hpp).
#include <vector>

#include "scenario/rules_table.hpp"

namespace stepsim::study {

void add_workload_rules(std::vector<KeyRule>& all);

} // namespace stepsim::study
