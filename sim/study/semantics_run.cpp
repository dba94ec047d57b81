// Every iteration runs the operators that the convergence curves use, on the residuals which the
// one before has left.
#include "study/semantics_run.hpp"

namespace stepsim::study {

std::vector<collectives::FeedbackStep> run_semantics(const SemanticsFile& file) {
  std::vector<collectives::FeedbackStep> steps;
  std::vector<collectives::SparseVector> residuals = file.initial_residual;
  for (const std::vector<collectives::SparseVector>& gradients : file.gradients) {
    steps.push_back(
        collectives::error_feedback_step(gradients, residuals, file.method, file.k, file.mask));
    residuals = steps.back().outcome().residuals;
  }
  return steps;
}

// On a tree only the ranks that merge know what was cut; the others would have to be told, which
// costs messages that no model here counts.
std::vector<std::string> semantics_warnings(const SemanticsFile& file) {
  if (file.method == collectives::SparseMethod::gtopk_tree &&
      file.mask == collectives::ResidualMask::per_round && file.ranks > 1) {
    return {"per_round mask on a tree assumes truncation feedback that is not charged"};
  }
  return {};
}

} // namespace stepsim::study
