#pragma once
// Rules of the keys for training in rounds of several steps (TRN 8.1, 8.4; rules_table.hpp).
#include <vector>

#include "scenario/rules_table.hpp"

namespace stepsim::study {

void add_local_rules(std::vector<KeyRule>& all);

} // namespace stepsim::study
