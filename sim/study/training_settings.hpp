#pragma once
// The settings that frameworks of today read, for the best row of plan-training.

#include "scenario/scenario.hpp"

namespace stepsim::study {

struct TrainingSettings {
  std::string text;
  std::string note; // what the file cannot say; "" = nothing
};

// The names of the frameworks, and the file of one of them for the scenario `best`, whose
// `prediction` stands in its first comment. Throws UsageError for a scenario without a batch size,
// and for a strategy or precision that the framework lacks.
[[nodiscard]] std::vector<std::string_view> training_targets();
[[nodiscard]] TrainingSettings training_settings(std::string_view target, const Scenario& best,
                                                 std::string_view prediction);

} // namespace stepsim::study
