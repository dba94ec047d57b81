#pragma once
// The choice of `auto` (COL 9), and the time of one algorithm by which the choice and the crossover
// search compare algorithms.

#include "collectives/collective.hpp"

namespace stepsim::collectives {

// Relative difference below which two candidates are equally fast; the first in the list then wins.
inline constexpr double kFirstWins = 1e-12;

// Seconds of the collective with `algorithm` instead of its own algorithm, all ranks entering at 0
// (COL 9). The evaluator is
//   events        on a fabric;
//   closed form   with cost_form exact, if ranks and links are alike and there is one; it may be an
//                 upper bound;
//   max_plus      in all other cases.
// Throws SimulationError if the evaluator throws it.
[[nodiscard]] double candidate_cost(const Collective& collective, AlgorithmId algorithm);

// options.candidates, or default_candidates if that list is empty.
[[nodiscard]] std::vector<AlgorithmId> candidates_of(const Collective& collective);

// The fastest and the second fastest candidate. Within kFirstWins, the first in the list is faster.
struct Choice {
  AlgorithmId chosen{};
  double chosen_s{};                    // candidate_cost() of `chosen`
  std::optional<AlgorithmId> runner_up; // empty with a single candidate
  std::optional<double> runner_up_s;    // candidate_cost() of `runner_up`
};
// Throws SimulationError if candidate_cost() throws for any candidate. Needs at least one candidate
// (asserted).
[[nodiscard]] Choice choose_algorithm(const Collective& collective);
// Returns the collective with `automatic` replaced by the choice; a collective with any other
// algorithm is returned unchanged.
[[nodiscard]] Collective with_chosen_algorithm(Collective collective);

// Finds the message sizes at which the cheapest of several algorithms changes (COL 8), from their
// exact costs: the cheapest algorithm on a grid of four sizes per octave, then bisection between
// neighbours with different results. Parts are n/P bytes, without rounding, so that curves have no
// steps.

struct Crossover {
  AlgorithmId below{}; // cheapest just below `bytes`
  AlgorithmId above{}; // cheapest just above
  double bytes{};      // within a relative error of 1e-9
};

// Returns the changes between `low_bytes` and `high_bytes` (0 < low <= high), ascending. At equal
// cost the first of `algorithms`, at least one, wins. Bytes, algorithm and entry times of
// `collective` are ignored. Throws SimulationError as candidate_cost() does (choose.hpp).
[[nodiscard]] std::vector<Crossover> find_crossovers(const Collective& collective,
                                                     std::span<const AlgorithmId> algorithms,
                                                     double low_bytes, double high_bytes);

} // namespace stepsim::collectives
