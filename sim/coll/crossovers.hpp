#pragma once
// The message sizes at which the cheapest of several algorithms changes (COL 8).
// Found on the exact costs: the winner on a grid of four sizes per octave, then bisection between
// neighbours whose winners differ. Parts are taken as real (n/P), so that curves have no steps.
#include <span>
#include <vector>

#include "coll/collective.hpp"

namespace stepsim::coll {

struct Crossover {
  AlgorithmId below{}; // cheapest just below `bytes`
  AlgorithmId above{}; // cheapest just above
  double bytes{};      // relative error 1e-9
};

// Changes between `low_bytes` and `high_bytes` (0 < low <= high), ascending. Ties go to the first
// of `algorithms`. Entry times do not count.
[[nodiscard]] std::vector<Crossover> find_crossovers(const Collective& collective,
                                                     std::span<const AlgorithmId> algorithms,
                                                     double low_bytes, double high_bytes);

} // namespace stepsim::coll
