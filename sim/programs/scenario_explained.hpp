#pragma once
// The program of a scenario with everything that explaining it takes: factors of variability,
// layers and buckets by name, and what an exchange pays per start-up and per byte.
#include "program/explain/attribution.hpp"
#include "programs/program_file.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

struct ExplainableScenario {
  ProgramFile file;
  program::ProgramLabels labels;
};

// Throws SimulationError where the scenario has no program (run/scenario_program.hpp). Workers that
// vary are run for the scenario's iterations; equal ones for 400, of which the last 200 count where
// there is no critical cycle.
[[nodiscard]] ExplainableScenario explainable(const Scenario& scenario);

} // namespace stepsim::study
