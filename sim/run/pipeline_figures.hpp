#pragma once
// What a result says of pipelined training that runs as a program (PIP 8, 10, 11): the pipeline
// width, the gradients that iterations apply, and the gradients that are left at the end.

#include "programs/operation_times.hpp"
#include "programs/step/pipeline.hpp"
#include "run/result.hpp"
#include "run/scenario_program.hpp"

namespace stepsim::study {

// Whether pipeline_width is "optimal".
[[nodiscard]] bool searches_width(const Scenario& scenario);

// The scenario with the best width (PIP 10).
[[nodiscard]] Scenario with_best_width(const Scenario& scenario);
// Runs the program of that scenario, whose width a warning names.
[[nodiscard]] Result run_with_best_width(const Scenario& scenario, Detail detail);

// Sets pipeline_width, the figures of staleness, in_flight_gradients and, with /training/drain,
// makespan_drained_s, the formulas of the period unless messages are simulated, and the gradient
// that each of result.iterations applies. `times` has all operations of `made`.
void fill_pipeline(const Scenario& scenario, const ScenarioProgram& made,
                   const programs::OperationTimes& times, Result& result);

} // namespace stepsim::study
