#pragma once
// Measures how much the compute times of ranks and steps vary, as the block `variability` of a
// scenario (INP 1.8).
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "import/kineto/kineto_rank.hpp"
#include "train/workload/variability.hpp"

namespace stepsim::io {

struct MeasuredVariability {
  train::Variability block;         // empirical; no factors if there is no compute on the device
  std::vector<double> rank_factors; // [file] median over steps / median over ranks
  std::vector<std::string> notes;
};

// C is the device time of a rank and step without communication. If there are two or more ranks
// with three or more steps, a rank becomes a straggler if it is off the median by more than 2 % and
// by more than twice the spread of its own steps; its C are divided by its factor. The factors are
// all C divided by their mean, sorted, at most 1000.
[[nodiscard]] MeasuredVariability measured_variability(std::span<const KinetoRank> ranks);

} // namespace stepsim::io
