// The choice of `auto` (COL 9): every candidate at its cheapest, all ranks entering at 0;
// on a fabric by events.
#include "collectives/choose.hpp"

#include <cassert>

#include "collectives/algorithms.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/formula/blocks.hpp"

namespace stepsim::collectives {

namespace {

// Why a grid first: two curves may cross more than once, as the time of a pipeline grows with the
// root of the bytes at first, so that bisection over the whole range would lose crossings. Between
// two sizes of the grid it finds the first of them to a relative error of 1e-9.

constexpr double kGridStep = 1.189207115002721; // 2^(1/4)
constexpr double kTolerance = 1e-9;             // relative, of a crossover
constexpr double kSameCost = 1e-12;             // relative, of two costs

// Given sizes of ranks keep their ratios; only the whole grows.
Collective resized(const Collective& collective, double bytes) {
  Collective result = collective;
  const double whole = total_bytes(collective);
  for (double& size : result.sizes) {
    size *= whole > 0 ? bytes / whole : 0;
  }
  result.bytes = bytes;
  result.options.chunking = Chunking::real;
  return result;
}

AlgorithmId winner(const Collective& collective, std::span<const AlgorithmId> algorithms,
                   double bytes) {
  const Collective point = resized(collective, bytes);
  AlgorithmId best = algorithms.front();
  double least = candidate_cost(point, best);
  for (const AlgorithmId algorithm : algorithms.subspan(1)) {
    if (const double cost = candidate_cost(point, algorithm); cost < least * (1 - kSameCost)) {
      best = algorithm;
      least = cost;
    }
  }
  return best;
}

} // namespace

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

Collective with_chosen_algorithm(Collective collective) {
  if (collective.algorithm == AlgorithmId::automatic) {
    collective.algorithm = choose_algorithm(collective).chosen;
  }
  return collective;
}

std::vector<Crossover> find_crossovers(const Collective& collective,
                                       std::span<const AlgorithmId> algorithms, double low_bytes,
                                       double high_bytes) {
  assert(!algorithms.empty() && low_bytes > 0 && low_bytes <= high_bytes);
  std::vector<Crossover> found;
  double at = low_bytes;
  AlgorithmId here = winner(collective, algorithms, at);
  while (at < high_bytes) {
    const double next = std::min(at * kGridStep, high_bytes);
    const AlgorithmId there = winner(collective, algorithms, next);
    // A pair of neighbours may hide several changes: take the first, go on from it.
    while (here != there) {
      double low = at;
      double high = next;
      AlgorithmId above = there;
      while (high - low > kTolerance * high) {
        const double middle = std::sqrt(low * high);
        const AlgorithmId between = winner(collective, algorithms, middle);
        (between == here ? low : high) = middle;
        above = between == here ? above : between;
      }
      found.push_back({here, above, high});
      at = high;
      here = above;
    }
    at = next;
  }
  return found;
}

} // namespace stepsim::collectives
