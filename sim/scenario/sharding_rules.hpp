#pragma once
// Where the keys of micro-batches and sharding have a meaning: part of the feature matrix
// (rules_table.hpp).
#include <vector>

#include "scenario/rules_table.hpp"

namespace stepsim::study {

void add_sharding_rules(std::vector<KeyRule>& all);

} // namespace stepsim::study
