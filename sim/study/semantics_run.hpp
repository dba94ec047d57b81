#pragma once
// Runs the iterations of a sparse_semantics file with the simulator's own operators, so that the
// checked exchange is the one that simulations assume (collectives/operators/error_feedback.hpp,
// SPA 7).
#include <string>
#include <vector>

#include "collectives/operators/error_feedback.hpp"
#include "study/semantics_file.hpp"

namespace stepsim::study {

// Returns one step per iteration of the file. The first step starts with the file's initial
// residuals, every other one with those that the residual mask left after the step before. Throws
// SimulationError if a sum overflows a double.
[[nodiscard]] std::vector<collectives::FeedbackStep> run_semantics(const SemanticsFile& file);

// Returns warnings about messages that the exchange needs on a cluster but no model counts.
[[nodiscard]] std::vector<std::string> semantics_warnings(const SemanticsFile& file);

} // namespace stepsim::study
