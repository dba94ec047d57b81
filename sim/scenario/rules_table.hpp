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

// Pointers of those keys among sync_s, host_copy_Bps, input_s, copy_bandwidth_Bps and exchange_cv
// that are above 0. Where messages are simulated one by one, parameter servers refuse these keys,
// and other training runs as a program to support them (network_use.hpp).
[[nodiscard]] std::vector<std::string_view> times_beside_exchanges(const Scenario& scenario);

} // namespace stepsim::study
