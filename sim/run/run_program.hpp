#pragma once
// Runs a scenario as a program (scenario_program.hpp): training with micro-batches, sharding, local
// steps or delayed updates, and slowdowns by overlap that the formulas of steps do not cover. The
// evaluators of programs give the result (TRN 2.3). If all workers are equal, one rank stands for
// all of them and the period is exact; with random factors or stragglers every rank is evaluated.
// On a simulated network the period is a mean over iterations.
#include "run/result.hpp"

namespace stepsim::study {

struct ProgramMemory; // program_memory.hpp

// Throws SimulationError where scenario_program() or evaluated() throws it, for example if there
// are more operations times ranks times iterations than can be recorded.
// `memory`, if not null, holds what earlier runs kept; with Detail::all it is not used.
[[nodiscard]] Result run_program(const Scenario& scenario, Detail detail = Detail::all,
                                 ProgramMemory* memory = nullptr);

// Returns iteration_time_s of run_program(), which nothing else is made of. `like` as for
// period_of().
[[nodiscard]] double program_period(const Scenario& scenario, ProgramMemory* memory = nullptr,
                                    const ProgramMemory* like = nullptr);

} // namespace stepsim::study
