#pragma once
// A synchronous step whose computing and exchanges slow each other down (TRN 3.1). The program of
// the scenario is evaluated by events; layers and messages of the step then get the durations that
// the events gave, so that buckets, layers and timeline include the slowdown:
//
//     backward   |--3--|-2-|-1-|          |--3--|--2----|-1--|     2 and 1 are stretched while
//     channel          |====3====|2|1|            |====3====|2|1|  message 3 is under way
#include "programs/step/step.hpp"
#include "run/result.hpp"

namespace stepsim::study {

struct StretchedStep {
  programs::StepInput input;
  double period_s{}; // steady iteration time
  // How many seconds sooner the first iteration ends than a steady one would: no exchange of an
  // earlier iteration slows its forward.
  double first_shift_s{};
};

// The workers of `scenario` must be equal; `input` is its step without the slowdown of
// /training/overlap. Throws SimulationError if the scenario has no program, or if the period of the
// stretched step is not that of the events. This happens where computing and messages of an
// iteration overlap with more than one other iteration, and where a slowdown reaches forward and
// /training/input_s is above 0.
[[nodiscard]] StretchedStep stretched_step(const Scenario& scenario, programs::StepInput input);

} // namespace stepsim::study
