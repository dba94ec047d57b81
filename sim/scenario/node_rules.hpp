#pragma once
// The rows of the feature matrix about nodes with several GPUs and cards, and switches that add.
#include <span>

#include "scenario/rules_table.hpp"

namespace stepsim::study {

[[nodiscard]] std::span<const KeyRule> node_rules();

} // namespace stepsim::study
