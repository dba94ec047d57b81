#pragma once
// The changes that step_changes.hpp tries, and the causes that it adds to a scenario, before
// anybody has looked whether they are valid.

#include "study/explained.hpp"

namespace stepsim::study {

struct Change {
  std::string name;
  std::vector<std::string> set;
  ChangeKind kind{};
};

// `tree`: the scenario as written, short forms expanded; `scenario`: what it says (nominal_of()).
[[nodiscard]] std::vector<Change> all_changes(const io::Json& tree, const Scenario& scenario);
// What is often missing in a scenario that predicts too short a step.
[[nodiscard]] std::vector<Change> all_causes(const Scenario& scenario);

} // namespace stepsim::study
