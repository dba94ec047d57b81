#pragma once
// What the rules of several objects ask of a scenario, and the words in which they name it.
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
