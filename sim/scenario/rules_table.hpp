#pragma once
// Which keys of a scenario go together: the rules that are checked when all of it is known.
#include <string>
#include <string_view>
#include <vector>

#include "scenario/scenario.hpp"

namespace stepsim::study {

struct KeyRule {
  std::string_view pointer;
  std::string_view when; // completes "has a meaning where ..."
  bool (*meaningful)(const Scenario&);
  std::string (*where)(const Scenario&); // what stands in the way, in this scenario
};

// A pointer may have several rules: all of them hold where the key has a meaning.
[[nodiscard]] std::vector<KeyRule> key_rules();

// The keys of times above 0 that an evaluator of single messages has no place for.
[[nodiscard]] std::vector<std::string_view> times_beside_exchanges(const Scenario& scenario);

} // namespace stepsim::study
