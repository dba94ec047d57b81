#pragma once
// Gives a program that a run made the times of the next run, without making it anew.
#include "run/program_memory.hpp"

namespace stepsim::study {

// Retimes memory.made, which must be set, for a scenario that differs as ProgramMemory says. False,
// with the program to be made anew, where the scenario may have other operations: where costs or
// times choose other buckets, messages are simulated, or the number of ranks counts in what the
// operations compute. What moved factors leave as it is in the run that is `like` this one, if not
// null (period_of()), is taken from there.
[[nodiscard]] bool retime(const Scenario& scenario, MadeFor made_for, const ProgramMemory* like,
                          ProgramMemory& memory);

} // namespace stepsim::study
