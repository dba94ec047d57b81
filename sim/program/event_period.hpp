#pragma once
// The period that the evaluator `events` settles to, for constant durations: with interference and
// disciplines other than fifo, where no cycle ratio gives it (TRN 2.4). Times of such a run repeat
// after some iterations, shifted by the same time for every operation:
//
//     E(o, t + c) = E(o, t) + shift for every operation o,  period = shift / c
//
// Once a whole window of iterations as long as the longest wait has come back, so does everything
// after it. c is 1 for most programs; a pipelined one may alternate between c different periods.
#include <cstdint>

#include "base/units.hpp"
#include "program/training_program.hpp"

namespace stepsim::program {

struct EventPeriod {
  Seconds period;
  // Iterations after which all times repeat; 0 if they did not within the iterations that were
  // simulated, whose second half then gives the mean.
  std::int64_t cyclicity{};
};

// Of a valid program that event_pass_applies() to, without variability. Simulates 4, 8, 16, ..
// iterations (more where waits are longer) until the times repeat to 1e-12 of the time of the run,
// and gives up after `most_iterations`. The rank whose marker ends last counts.
[[nodiscard]] EventPeriod event_period(const Program& program, std::int64_t most_iterations = 1024);

} // namespace stepsim::program
