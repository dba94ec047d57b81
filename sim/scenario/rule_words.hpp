#pragma once
// Functions that the rules of several objects use: what training a scenario has, and its name.
#include <string>

#include "scenario/scenario.hpp"

namespace stepsim::study {

[[nodiscard]] inline bool is_sync(const Scenario& scenario) {
  return scenario.training.algorithm == TrainingAlgorithm::sync_sgd;
}
[[nodiscard]] inline std::string training_word(const Scenario& scenario) {
  return std::string(kTrainingAlgorithms[scenario.training.algorithm]);
}

} // namespace stepsim::study
