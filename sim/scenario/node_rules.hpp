#pragma once
// Rules of the keys for nodes with several GPUs and network cards, and for switches that add
// (rules_table.hpp).
#include <span>

#include "scenario/rules_table.hpp"

namespace stepsim::study {

[[nodiscard]] std::span<const KeyRule> node_rules();

} // namespace stepsim::study
