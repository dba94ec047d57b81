#pragma once
// Figures of a run that was evaluated as a program, which follow from its operations and from the
// scenario. All times are seconds per step of the optimizer.
#include <cstdint>
#include <span>
#include <vector>

#include "programs/operation_times.hpp"
#include "run/evaluated_program.hpp"
#include "run/result.hpp"
#include "run/scenario_program.hpp"

namespace stepsim::study {

// What a rank sends in a step.
[[nodiscard]] double bytes_sent(const ScenarioProgram& made);
// A step of one worker alone in the iterations of the window, of `steps` steps each: it trains with
// all micro-batches, and updates what a rank of the run updates.
[[nodiscard]] double alone_seconds_of(const Scenario& scenario, const Window& window,
                                      std::int64_t steps);

// Sets the parts of the period that computing takes, `alone_s` together: as much longer as the
// slowest ranks are. Without selections on a stream of their own it takes `unselected_s`.
void fill_computing(const Scenario& scenario, const ScenarioProgram& made, double alone_s,
                    double unselected_s, Summary& summary);
// [rank]: seconds of computing per step, the mean over the iterations of the window.
[[nodiscard]] std::vector<double> mean_compute_s(const programs::Program& made,
                                                 const programs::Factors& factors,
                                                 const Window& window);
// Sets straggler_wait_s and, for lists, result.workers.
void fill_workers(std::span<const double> compute_s, double alone_s, Detail detail, Result& result);
// Sets staleness and the gradients that iterations apply, of updates that all apply the gradients
// of the same number of iterations ago, in a run of `iterations`.
void fill_delays(const programs::Program& made, std::int64_t iterations, Result& result);
void fill_rounds(const Scenario& scenario, const EvaluatedProgram& found, Summary& summary);
// Sets lower_bound_s of dense all-reduces, and warns where factors make the iteration shorter than
// mean times allow. The iteration time must be set.
void fill_bound(const Scenario& scenario, const ScenarioProgram& made,
                const EvaluatedProgram& found, const programs::Factors& factors,
                const Window& window, Result& result);

} // namespace stepsim::study
