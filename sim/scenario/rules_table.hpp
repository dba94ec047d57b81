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
  std::string (*where)(const Scenario&); // completes "has no meaning for ..."
};

// A pointer may have several rules: all of them hold where the key has a meaning.
[[nodiscard]] std::vector<KeyRule> key_rules();

// Pointers of those of sync_s, host_copy_Bps, input_s, copy_bandwidth_Bps and exchange_cv that are
// above 0: training whose messages are simulated one by one cannot have them.
[[nodiscard]] std::vector<std::string_view> times_beside_exchanges(const Scenario& scenario);

} // namespace stepsim::study
