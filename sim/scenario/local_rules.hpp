#pragma once
// Rows of the feature matrix about training in rounds of several steps (TRN 8.1, 8.4).
#include <vector>

#include "scenario/rules_table.hpp"

namespace stepsim::study {

void add_local_rules(std::vector<KeyRule>& all);

} // namespace stepsim::study
