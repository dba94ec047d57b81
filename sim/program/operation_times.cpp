#include "program/operation_times.hpp"

#include <algorithm>
#include <cassert>

namespace stepsim::program {

Seconds mean_period(const OperationTimes& times, std::int64_t discard) {
  assert(1 <= discard && discard < times.iterations);
  double period = 0;
  const auto row = [&](std::int64_t iteration) {
    return times.marker_end.begin() + iteration * std::int64_t{times.ranks};
  };
  for (std::int64_t rank = 0; rank < std::int64_t{times.ranks}; ++rank) {
    const double span = row(times.iterations - 1)[rank] - row(discard - 1)[rank];
    period = std::max(period, span / static_cast<double>(times.iterations - discard));
  }
  return {period};
}

} // namespace stepsim::program
