#include "programs/event_pass.hpp"

#include <algorithm>
#include <cassert>

#include "programs/program_events.hpp"

namespace stepsim::programs {

bool event_pass_applies(const Program& program) {
  return std::ranges::none_of(program.operations, [](const Operation& operation) {
    return operation.type == OperationType::exchange && operation.entry == Entry::each;
  });
}

std::int64_t iterations_after(const Program& program) {
  const bool shared = std::ranges::any_of(program.streams, [](const Stream& stream) {
    return stream.discipline == Discipline::at_once;
  });
  std::int64_t longest = 0;
  if (program.interference.any() || shared) {
    for (const Wait& wait : program.waits) {
      longest = std::max<std::int64_t>(longest, wait.distance);
    }
  }
  return longest;
}

OperationTimes event_pass(const Program& program, std::int64_t iterations, const Factors& factors,
                          Record record) {
  assert(event_pass_applies(program) && "exchanges start together");
  ProgramEvents events(program, iterations, factors, record);
  for (double now = 0; now < kNoEvent; now = events.next_time()) {
    events.advance(now);
  }
  assert(events.finished() && "a valid program comes to its end");
  return events.take_times();
}

} // namespace stepsim::programs
