#pragma once
// Rules of the keys for micro-batches and sharding (rules_table.hpp).
#include <vector>

#include "scenario/rules_table.hpp"

namespace stepsim::study {

void add_sharding_rules(std::vector<KeyRule>& all);

} // namespace stepsim::study
