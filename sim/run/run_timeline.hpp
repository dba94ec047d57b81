#pragma once
// The picture of a run: what every worker computes and sends, and the busiest links, as a timeline.
#include <cstdint>
#include <vector>

#include "engine/timeline.hpp"
#include "run/result.hpp"

namespace stepsim::study {

struct TimelineFilter {
  std::vector<std::int64_t> nodes;   // empty = the first 8
  std::int64_t first_iteration = -1; // from 0; -1 = the third from the end
  std::int64_t last_iteration = -1;  // included; -1 = the last
};
[[nodiscard]] engine::Timeline timeline(const Result& result, const TimelineFilter& filter);

} // namespace stepsim::study
