#include "programs/recurrence.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <span>
#include <vector>

#include "programs/operation_layout.hpp"

namespace stepsim::programs {
namespace {

double factor_of(const Program& program, const Factors& factors, const Operation& operation,
                 std::int64_t iteration) {
  const std::vector<double>& table =
      operation.type == OperationType::exchange ? factors.exchange : factors.compute;
  if (table.empty() || operation.type == OperationType::delay) {
    return 1;
  }
  return table[static_cast<std::size_t>(iteration * program.steps + operation.step)];
}

} // namespace

bool recurrence_applies(const Program& program) {
  return program.only_fifo() && !program.interference.any();
}

OperationTimes recurrence(const Program& program, std::int64_t iterations, const Factors& factors,
                          Record record) {
  assert(recurrence_applies(program) && "fifo streams without interference");
  const OperationLayout layout = layout_of(program);
  const std::uint32_t inside = program.iteration_size();
  const bool varied = !factors.compute.empty() || !factors.exchange.empty();
  OperationTimes times;
  times.iterations = iterations;
  times.ranks = 1;
  times.operations = inside;
  times.marker_end.reserve(static_cast<std::size_t>(iterations));
  if (record == Record::all) {
    times.start.resize(static_cast<std::size_t>(iterations) * inside);
    times.end.resize(times.start.size());
  }
  std::vector<double> ends(layout.slots, 0);
  std::vector<double> stream_end(program.streams.size(), 0);
  const auto run = [&](std::uint32_t o, std::int64_t iteration) {
    double start = stream_end[layout.stream[o]];
    for (const OperationLayout::WaitSlot& wait : layout.waits_of(program, o)) {
      if (wait.holds(iteration)) {
        start = std::max(start, ends[OperationLayout::slot(wait, iteration)]);
      }
    }
    double seconds = layout.seconds[o];
    if (varied && iteration < iterations) {
      seconds *= factor_of(program, factors, program.operations[o], iteration);
    }
    const double end = start + seconds;
    ends[layout.slot(o, iteration)] = end;
    stream_end[layout.stream[o]] = end;
    if (record == Record::all && iteration < iterations) {
      const std::size_t place = times.at(iteration, o, 0);
      times.start[place] = start;
      times.end[place] = end;
    }
  };
  const std::span<const std::uint32_t> order(layout.order);
  for (std::int64_t t = 0; t < iterations; ++t) {
    for (const std::uint32_t o : order.first(inside)) {
      run(o, t);
    }
    times.marker_end.push_back(ends[layout.slot(program.marker, t)]);
  }
  for (const std::uint32_t o : order.subspan(inside)) {
    run(o, iterations);
  }
  // Operations end in order on a fifo stream.
  times.makespan_s = *std::ranges::max_element(stream_end);
  return times;
}

} // namespace stepsim::programs
