#pragma once
// The rules about which keys of a scenario go together, checked when all of it has been read.
#include <string>
#include <string_view>
#include <vector>

#include "scenario/scenario.hpp"

namespace stepsim::study {

struct KeyRule {
  std::string_view pointer;
  std::string_view when; // completes "has a meaning where ..."
  bool (*meaningful)(const Scenario&);
  std::string (*where)(const Scenario&); // completes "has no meaning for ..."
};

// A pointer may have several rules: the key has an effect only if all of them hold.
[[nodiscard]] std::vector<KeyRule> key_rules();

} // namespace stepsim::study
