#pragma once
// The choice of `auto` (COL 9), and the price of one algorithm as the choice and the crossover
// search compare them.
#include <optional>
#include <vector>

#include "coll/collective.hpp"

namespace stepsim::coll {

// Relative: of candidates that differ by less the first in the list wins.
inline constexpr double kFirstWins = 1e-12;

// Seconds of `algorithm` in place of the collective's own, all ranks entering at 0: on a fabric by
// events; else by the closed form with cost_form exact, be it an upper bound, if ranks and links
// are alike and there is one; else by max_plus (COL 9). Throws SimulationError where these
// evaluators throw it.
[[nodiscard]] double candidate_cost(const Collective& collective, AlgorithmId algorithm);

// options.candidates, or default_candidates if that list is empty.
[[nodiscard]] std::vector<AlgorithmId> candidates_of(const Collective& collective);

// The cheapest candidate; ties (relative 1e-12) go to the first in the list. A candidate that
// candidate_cost refuses makes the whole choice throw.
struct Choice {
  AlgorithmId chosen{};
  double chosen_s{};                    // candidate_cost of it
  std::optional<AlgorithmId> runner_up; // empty with a single candidate
  std::optional<double> runner_up_s;
};
[[nodiscard]] Choice choose_algorithm(const Collective& collective);
// Returns the collective with `automatic` replaced by the choice; a collective with any other
// algorithm is returned unchanged.
[[nodiscard]] Collective with_chosen_algorithm(const Collective& collective);

} // namespace stepsim::coll
