#pragma once
// Runs the iterations of a sparse_semantics file with the simulator's own operators, so that the
// checked exchange is the one that simulations assume (coll/operators/error_feedback.hpp, SPA 7).
#include <string>
#include <vector>

#include "coll/operators/error_feedback.hpp"
#include "lab/semantics_file.hpp"

namespace stepsim::study {

// Runs one step per iteration. Each starts with the residuals that the step before left under the
// residual mask. Throws SimulationError if a sum overflows a double.
[[nodiscard]] std::vector<coll::FeedbackStep> run_semantics(const SemanticsFile& file);

// Warnings about work that the run leaves out although a cluster would spend time on it.
[[nodiscard]] std::vector<std::string> semantics_warnings(const SemanticsFile& file);

} // namespace stepsim::study
