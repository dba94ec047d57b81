#pragma once
// Rows of the feature matrix about where the times of a model's layers come from.
#include <vector>

#include "scenario/rules_table.hpp"

namespace stepsim::study {

void add_workload_rules(std::vector<KeyRule>& all);

} // namespace stepsim::study
