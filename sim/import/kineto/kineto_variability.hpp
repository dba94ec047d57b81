#pragma once
// Measures how much the compute times of ranks and steps vary, as the block `variability` of a
// scenario (INP 1.8).
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "import/kineto/kineto_rank.hpp"
#include "layers/variability.hpp"

namespace stepsim::io {

struct MeasuredVariability {
  layers::Variability block;        // empirical; no factors if there is no compute on the device
  std::vector<double> rank_factors; // [file] median of C over steps / median of these over ranks
  std::vector<std::string> notes;
};

// C is the device time of a rank and step without communication; there must be at least one rank.
// If there are two or more ranks, all with three or more used steps, a rank becomes a straggler if
// its rank factor differs from 1 by more than 2 % and by more than twice the relative standard
// deviation of its own steps; its C are then divided by the rank factor. The worker of a straggler
// is the rank that its file records, else the index of the file. The factors of `block` are all C
// divided by their mean, sorted; of more than 1000, 1000 evenly spaced quantiles.
[[nodiscard]] MeasuredVariability measured_variability(std::span<const KinetoRank> ranks);

} // namespace stepsim::io
