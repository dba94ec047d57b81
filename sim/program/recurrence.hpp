#pragma once
// Evaluator `recurrence`: equal ranks, exchange times by formula, fifo streams, no interference.
// One number per operation and iteration, O(operations + waits) per iteration (TRN 2.2, 2.3):
//
//     S(o, t) = max(E(previous operation on the stream), max over waits (q, d) of E(q, t - d))
//     E(o, t) = S(o, t) + factor x seconds
#include <cstdint>

#include "program/operation_times.hpp"
#include "program/training_program.hpp"

namespace stepsim::program {

// True if the recurrence is exact for equal ranks: only fifo streams, no interference. Entry `each`
// is allowed, because equal ranks enter together.
[[nodiscard]] bool recurrence_applies(const Program& program);

// Runs a valid program that recurrence_applies() to. `factors` hold those of one rank, whatever
// program.ranks says; the result has one rank.
[[nodiscard]] OperationTimes recurrence(const Program& program, std::int64_t iterations,
                                        const Factors& factors = {},
                                        Record record = Record::marker);

} // namespace stepsim::program
