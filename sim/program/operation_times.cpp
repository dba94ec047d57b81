#include "program/operation_times.hpp"

#include <algorithm>
#include <cassert>

namespace stepsim::program {

double latest_marker_end(const OperationTimes& times, std::int64_t iteration) {
  const auto first = times.marker_end.begin() + iteration * std::int64_t{times.ranks};
  return *std::max_element(first, first + std::int64_t{times.ranks});
}

Seconds mean_period(const OperationTimes& times, std::int64_t discard) {
  assert(1 <= discard && discard < times.iterations);
  return {(latest_marker_end(times, times.iterations - 1) - latest_marker_end(times, discard - 1)) /
          static_cast<double>(times.iterations - discard)};
}

} // namespace stepsim::program
