#pragma once
// Rules of the keys for parameter servers (PIP 2, TRN 4.7; rules_table.hpp).
#include <vector>

#include "scenario/rules_table.hpp"

namespace stepsim::study {

void add_server_rules(std::vector<KeyRule>& all);

} // namespace stepsim::study
