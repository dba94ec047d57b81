#include "programs/operation_times.hpp"

#include <cassert>

#include "programs/rank_loops.hpp"

namespace stepsim::programs {

OperationTimes sized_times(const Program& program, std::int64_t iterations, std::uint32_t ranks,
                           Record record) {
  OperationTimes times;
  times.iterations = iterations;
  times.ranks = ranks;
  times.operations = program.iteration_size();
  times.columns = record == Record::first_rank ? 1 : 0;
  times.marker_end.resize(static_cast<std::size_t>(iterations) * ranks);
  if (record != Record::marker) {
    times.start.resize(times.at(iterations, 0, 0));
    times.end.resize(times.start.size());
  }
  return times;
}

double latest_marker_end(const OperationTimes& times, std::int64_t iteration) {
  const auto first = static_cast<std::size_t>(times.row(iteration)) * times.ranks;
  if (times.ranks == 1) {
    return times.marker_end[first] + times.later_s(iteration);
  }
  const auto ends = std::span(times.marker_end).subspan(first, times.ranks);
  return least_and_largest(ends).second + times.later_s(iteration);
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
  if (times.period_s && times.repeats_from > iterations) {
    times.repeats_from = iterations;
  }
  const std::int64_t rows = times.row(iterations - 1) + 1;
  times.marker_end.resize(static_cast<std::size_t>(rows) * times.ranks);
  if (!times.end.empty()) {
    times.start.resize(times.at(rows, 0, 0));
    times.end.resize(times.start.size());
    times.makespan_s = *std::ranges::max_element(times.end) + times.later_s(iterations - 1);
  }
  return times;
}

} // namespace stepsim::programs
