#pragma once
// The steady-state period of a program with constant durations by the evaluator `events`. It is for
// programs with interference or with disciplines other than fifo: the period of such a program is
// not a cycle ratio (TRN 2.4). From some iteration on, the end times E repeat, all shifted by the
// same time:
//
//     E(o, t + c) = E(o, t) + shift for every operation o,  period = shift / c
//
// An iteration depends on the w iterations before it, where w is the largest distance of a wait. So
// once w iterations in a row repeat, all later iterations repeat, too. c is 1 for most programs; a
// pipelined program may alternate between c different periods.
#include <cstdint>
#include <optional>

#include "base/units.hpp"
#include "programs/operation_times.hpp"
#include "programs/training_program.hpp"

namespace stepsim::programs {

struct EventPeriod {
  Seconds period;
  // The number c of iterations after which all times repeat. 0 if they did not repeat within the
  // simulated iterations; `period` is then the mean over the second half of them.
  std::int64_t cyclicity{};
  std::int64_t steady_from{}; // the iteration t from which on the equation above holds
};

// The period of times that were recorded with Record::all, by event_pass() without variability and
// from the iteration on in which all waits that end have ended. Empty if they do not repeat.
[[nodiscard]] std::optional<EventPeriod> repetition(const Program& program,
                                                    const OperationTimes& times);

// The period of a valid program for which event_pass_applies(), with equal ranks. Simulates 4, 8,
// 16, .. iterations (more if waits look back farther) until the times repeat to 1e-12 of the time
// of the run, and gives up after `most_iterations` or 2^22 operations.
[[nodiscard]] EventPeriod event_period(const Program& program, std::int64_t most_iterations = 1024);

} // namespace stepsim::programs
