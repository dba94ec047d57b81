#pragma once
// Finds the message sizes at which the cheapest of several algorithms changes (COL 8), from their
// exact costs: the cheapest algorithm on a grid of four sizes per octave, then bisection between
// neighbours with different results. Parts are n/P bytes, without rounding, so that curves have no
// steps.
#include <span>
#include <vector>

#include "collectives/collective.hpp"

namespace stepsim::collectives {

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
