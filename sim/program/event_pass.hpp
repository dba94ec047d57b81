#pragma once
// Evaluator `events`: every start and end is an event, in the order of time. For all disciplines,
// interference and ranks that differ; exchange times by formula, entry `together` (TRN 2.2, 3.1).
#include <cstdint>

#include "program/operation_times.hpp"
#include "program/training_program.hpp"

namespace stepsim::program {

// True unless an exchange has entry `each`, whose ranks may leave before others enter.
[[nodiscard]] bool event_pass_applies(const Program& program);

// Runs a valid program that event_pass_applies() to. At one instant exchanges end first, then
// computing; then waiting operations start, and last, messages of priority and at_once streams are
// dispatched. O((operations + waits) x ranks) events per iteration, each O(log ranks) or, with
// interference, O(streams). Throws SimulationError where the fifo streams and the exchanges of
// other streams, together x ranks, reach 2^24.
[[nodiscard]] OperationTimes event_pass(const Program& program, std::int64_t iterations,
                                        const Factors& factors = {},
                                        Record record = Record::marker);

} // namespace stepsim::program
