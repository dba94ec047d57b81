#pragma once
// How far ranks and steps differ in computing, as the block `variability` of a scenario (INP 1.8).
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "import/kineto/kineto_rank.hpp"
#include "train/workload/variability.hpp"

namespace stepsim::io {

struct MeasuredVariability {
  train::Variability block;         // empirical; no factors where nothing varies
  std::vector<double> rank_factors; // by file: median over steps, relative to the median rank
  std::vector<std::string> notes;
};

// C = device time of a rank and step without communication. With two ranks and three steps or more,
// ranks that are off the median by more than 2 % and by more than twice the spread of their own
// steps become stragglers, and their factor is taken out of C. The factors are all C divided by
// their mean, sorted, at most 1000 of them.
[[nodiscard]] MeasuredVariability measured_variability(std::span<const KinetoRank> ranks);

} // namespace stepsim::io
