#pragma once
// What the collectives of a trace tell of the link (INP 1.10): a cost T(bytes) for each operation
// and group size.
//   several ranks   least squares of the transfers, from which waiting is separated, with weights
//                   1/T^2; 90 % intervals from 1,000 samples of the steps, drawn with replacement
//   one rank        no line, because the kernels wait for the other ranks. The shortest kernel of
//                   the smallest size is at least the start-up, and f bytes / shortest kernel at
//                   most the bus bandwidth, f as in bus_factor: a bound
// Bytes are those of all ranks where the operation gathers or scatters, as in samples.
#include <span>
#include <string>
#include <vector>

#include "files/cost_file.hpp"
#include "import/kineto/kineto_rank.hpp"

namespace stepsim::io {

struct MeasuredCosts {
  std::vector<LineCost> costs;    // by operation, then number of ranks; may be empty
  std::vector<std::string> notes; // why a cost is a bound only, and what was left out
};

// From all steps, those left out of the layer times too. All-reduce, all-gather, reduce-scatter and
// all-to-all count, since the ranks of these end together.
[[nodiscard]] MeasuredCosts measured_costs(std::span<const KinetoRank> ranks);

} // namespace stepsim::io
