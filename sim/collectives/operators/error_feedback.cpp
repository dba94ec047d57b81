#include "collectives/operators/error_feedback.hpp"

#include "base/collected.hpp"

#include <cassert>
#include <cmath>

namespace stepsim::collectives {

namespace {

// acc without the included entries of the selection.
SparseVector rest(const SparseVector& acc, const SparseVector& selected,
                  const std::vector<bool>& included) {
  SparseVector out;
  std::size_t s = 0;
  for (std::size_t i = 0; i < acc.size(); ++i) {
    const bool was_selected = s < selected.size() && selected.indices[s] == acc.indices[i];
    if (!was_selected || !included[s]) {
      out.indices.push_back(acc.indices[i]);
      out.values.push_back(acc.values[i]);
    }
    s += was_selected ? 1 : 0;
  }
  return out;
}

double largest_difference(const SparseVector& a, const SparseVector& b) {
  const std::array<SparseVector, 2> both{a, divided(b, -1)};
  const SparseVector difference = sparse_sum(both);
  return base::greatest<double>(difference.values, 0, [](double value) { return std::abs(value); });
}

MaskOutcome put_back(const FeedbackStep& step, const std::vector<std::vector<bool>>& included) {
  MaskOutcome out;
  for (std::size_t rank = 0; rank < step.selected.size(); ++rank) {
    out.residuals.push_back(rest(step.accumulated[rank], step.selected[rank], included[rank]));
  }
  std::vector<SparseVector> parts = out.residuals;
  parts.push_back(step.global.result);
  out.conservation_error = largest_difference(sparse_sum(step.accumulated), sparse_sum(parts));
  return out;
}

} // namespace

FeedbackStep error_feedback_step(std::span<const SparseVector> gradients,
                                 std::span<const SparseVector> residuals, SparseMethod method,
                                 std::uint32_t k, ResidualMask mask) {
  assert(!gradients.empty() && gradients.size() == residuals.size() &&
         "one gradient and one residual per rank");
  FeedbackStep step;
  step.mask = mask;
  for (std::size_t rank = 0; rank < gradients.size(); ++rank) {
    const std::array<SparseVector, 2> both{gradients[rank], residuals[rank]};
    step.accumulated.push_back(sparse_sum(both));
    step.selected.push_back(select_top_k(step.accumulated.back(), k));
  }
  step.global = gtopk(method, step.selected, k);
  const auto& survived = step.global.survived;
  step.update = divided(step.global.result, static_cast<double>(gradients.size()));

  std::vector<std::vector<bool>> in_result = survived; // topk: all that is sent is used
  for (std::uint32_t rank = 0; rank < gradients.size(); ++rank) {
    const SparseVector& selected = step.selected[rank];
    for (std::size_t e = 0; e < selected.size(); ++e) {
      const std::uint32_t index = selected.indices[e];
      if (!survived[rank][e] && step.global.result.contains(index)) {
        in_result[rank][e] = true;
        step.lost.push_back({rank, index, selected.values[e]});
      }
    }
  }
  step.final = put_back(step, in_result);
  step.per_round = put_back(step, survived);
  return step;
}

} // namespace stepsim::collectives
