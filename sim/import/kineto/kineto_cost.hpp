#pragma once
// Estimates the cost of the link from the collectives of a trace (INP 1.10): T(bytes) for each
// operation and group size.
//   several ranks   least squares on the transfers, with waiting removed and weights 1/T^2; 90 %
//                   intervals from 1,000 resamples of the steps (bootstrap)
//   one rank        only a bound, because the kernels wait for the other ranks: the start-up is at
//                   most the shortest kernel of the smallest size, and the bus bandwidth at least
//                   f bytes / shortest kernel, f as in bus_factor()
// Several ranks give only a bound, too, if their waiting cannot be separated, or if an operation
// has one size or times that do not grow with it. Bytes are those of all ranks for all-gather and
// reduce-scatter, as in samples.
#include <span>
#include <string>
#include <vector>

#include "import/kineto/kineto_rank.hpp"
#include "scenario/files/cost_file.hpp"

namespace stepsim::io {

struct MeasuredCosts {
  std::vector<LineCost> costs;    // by operation, then number of ranks; may be empty
  std::vector<std::string> notes; // why a cost is only a bound, and what was left out
};

// Uses all-reduce, all-gather, reduce-scatter and all-to-all only, because their ranks end
// together, in all steps, also in those that layer times leave out (kineto_rank.hpp). There must be
// at least one rank.
[[nodiscard]] MeasuredCosts measured_costs(std::span<const KinetoRank> ranks);

} // namespace stepsim::io
