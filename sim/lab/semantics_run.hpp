#pragma once
// Runs the iterations of a sparse_semantics file with the operators of coll: the exchange that is
// checked is the one that simulations describe (coll/operators/error_feedback.hpp, SPA 7).
#include <string>
#include <vector>

#include "coll/operators/error_feedback.hpp"
#include "lab/semantics_file.hpp"

namespace stepsim::study {

// One step per iteration, each from the residuals that the mask left in the one before. Throws
// SimulationError where a sum leaves the range of double.
[[nodiscard]] std::vector<coll::FeedbackStep> run_semantics(const SemanticsFile& file);

// What the run leaves out although a cluster would spend time on it.
[[nodiscard]] std::vector<std::string> semantics_warnings(const SemanticsFile& file);

} // namespace stepsim::study
