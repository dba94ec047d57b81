#pragma once
// Makes the program of a scenario with the input of an explanation: the factors of variability, the
// names of layers and buckets, and the cost of an exchange per start-up and per byte.
#include "program/explain/attribution.hpp"
#include "programs/program_file.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

struct ExplainableScenario {
  ProgramFile file;
  program::ProgramLabels labels;
};

// The program is to be run for the scenario's own iterations if its workers vary. If they are
// equal, it is run for 400 iterations, and the first 200 are discarded unless the period is that of
// a critical cycle. Throws SimulationError if the scenario has no program
// (run/scenario_program.hpp).
[[nodiscard]] ExplainableScenario explainable(const Scenario& scenario);

} // namespace stepsim::study
