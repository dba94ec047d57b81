#pragma once
// Makes the program of a scenario with the input of an explanation: the factors of variability, the
// names of layers and buckets, and the cost of an exchange per start-up and per byte.
#include "programs/explain/attribution.hpp"
#include "scenario/program_file.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

struct ExplainableScenario {
  ProgramFile file;
  programs::ProgramLabels labels;
};

// Returns the program with the settings of its evaluation: for a scenario with variability its own
// number of iterations (at least 2), else 400 iterations of which the first 200 are discarded. A
// period that is the ratio of a critical cycle does not depend on them. Throws SimulationError if
// the scenario has no program (run/scenario_program.hpp).
[[nodiscard]] ExplainableScenario explainable(const Scenario& scenario);

} // namespace stepsim::study
