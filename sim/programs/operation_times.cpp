#include "programs/operation_times.hpp"

#include <algorithm>
#include <cassert>

namespace stepsim::programs {

double latest_marker_end(const OperationTimes& times, std::int64_t iteration) {
  const auto first = times.marker_end.begin() + iteration * std::int64_t{times.ranks};
  return *std::max_element(first, first + std::int64_t{times.ranks});
}

Seconds mean_period(const OperationTimes& times, std::int64_t discard) {
  assert(1 <= discard && discard < times.iterations);
  return {(latest_marker_end(times, times.iterations - 1) - latest_marker_end(times, discard - 1)) /
          static_cast<double>(times.iterations - discard)};
}

OperationTimes first_iterations(OperationTimes times, std::int64_t iterations) {
  if (iterations >= times.iterations) {
    return times;
  }
  times.iterations = iterations;
  times.marker_end.resize(static_cast<std::size_t>(iterations) * times.ranks);
  if (!times.end.empty()) {
    times.start.resize(times.at(iterations, 0, 0));
    times.end.resize(times.start.size());
    times.makespan_s = *std::ranges::max_element(times.end);
  }
  return times;
}

} // namespace stepsim::programs
