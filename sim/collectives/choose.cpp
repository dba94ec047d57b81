// The choice of `auto` (COL 9): every candidate at its cheapest, all ranks entering at 0;
// on a fabric by events.
#include "collectives/choose.hpp"

#include <cassert>
#include <vector>

#include "collectives/algorithms.hpp"
#include "collectives/evaluate/events.hpp"
#include "collectives/evaluate/max_plus.hpp"
#include "collectives/formula/blocks.hpp"
#include "collectives/formula/closed_form.hpp"

namespace stepsim::collectives {
// Closed forms where they are exact keep a choice cheap; a printed form would favour algorithms
// whose papers are optimistic, so that the exact one is taken whatever the run asks for.
double candidate_cost(const Collective& collective, AlgorithmId algorithm) {
  Collective candidate = collective;
  candidate.algorithm = algorithm;
  candidate.enter_s.clear();
  candidate.options.cost_form = CostForm::exact;
  if (candidate.links.fabric) {
    return events(candidate).seconds;
  }
  if (candidate.homogeneous()) {
    if (const std::optional<ClosedForm> form = closed_form(candidate)) {
      return form->seconds;
    }
  }
  if (!candidate.homogeneous() && !candidate.links.measured && times_blocks(candidate)) {
    return *resolve_blocks(candidate)->seconds;
  }
  return max_plus(candidate).seconds;
}

std::vector<AlgorithmId> candidates_of(const Collective& collective) {
  const std::vector<AlgorithmId>& asked = collective.options.candidates;
  return asked.empty() ? default_candidates(collective) : asked;
}

Choice choose_algorithm(const Collective& collective) {
  const std::vector<AlgorithmId> candidates = candidates_of(collective);
  std::vector<double> costs;
  for (const AlgorithmId candidate : candidates) {
    costs.push_back(candidate_cost(collective, candidate));
  }
  // The runner-up is the cheapest without the winner, so that results can say by how much a choice
  // was made.
  const auto cheapest = [&](std::size_t except) {
    std::size_t best = candidates.size();
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (i != except && (best == candidates.size() || costs[i] < costs[best] * (1 - kFirstWins))) {
        best = i;
      }
    }
    return best;
  };
  const std::size_t first = cheapest(candidates.size());
  assert(first < candidates.size() && "at least one candidate");
  Choice choice;
  choice.chosen = candidates[first];
  choice.chosen_s = costs[first];
  if (const std::size_t second = cheapest(first); second < candidates.size()) {
    choice.runner_up = candidates[second];
    choice.runner_up_s = costs[second];
  }
  return choice;
}

Collective with_chosen_algorithm(const Collective& collective) {
  Collective result = collective;
  if (collective.algorithm == AlgorithmId::automatic) {
    result.algorithm = choose_algorithm(collective).chosen;
  }
  return result;
}

} // namespace stepsim::collectives
