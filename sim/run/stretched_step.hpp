#pragma once
// A synchronous step whose computing and exchanges slow each other down (TRN 3.1). The program of
// the scenario is evaluated by events, and the layers and messages of the step get the lengths that
// they have there, so that everything that is made from a step counts the slowdown:
//
//     backward   |--3--|-2-|-1-|          |--3--|--2----|-1--|     2 and 1 are stretched while
//     channel          |====3====|2|1|            |====3====|2|1|  message 3 is under way
#include "run/result.hpp"
#include "train/step/step.hpp"

namespace stepsim::study {

struct StretchedStep {
  train::StepInput input;
  double period_s{};      // by events
  double first_shift_s{}; // how much sooner the first iteration ends, which follows no other
};

// Of a scenario of equal workers with training.overlap. `input`: its step without slowdown. Throws
// SimulationError where the scenario has no program.
[[nodiscard]] StretchedStep stretched_step(const Scenario& scenario, train::StepInput input);

} // namespace stepsim::study
