#pragma once
// The interval of the iteration time (CON 4): every part that is not known for sure is moved by one
// standard deviation up and down, each in a run of its own.
#include "run/summary.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

struct ProgramMemory;

// Sets the interval of summary.iteration_time_s, which must be that of the scenario: of the factors
// of typical conditions and what differs between equal runs, of the model of a library, if one is
// asked, and of the estimate of computing beside either. `memory`, if not null, is that of the run.
void fill_step_interval(const Scenario& scenario, ProgramMemory* memory, Summary& summary);

} // namespace stepsim::study
