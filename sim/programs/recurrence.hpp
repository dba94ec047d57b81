#pragma once
// The evaluator `recurrence`, for equal ranks, exchange times by formula, fifo streams and no
// interference. It computes one start S and one end E per operation o and iteration t, in
// O(operations + waits) per iteration (TRN 2.2, 2.3):
//
//     S(o, t) = max(E(previous operation on the stream), max over waits (q, d) of E(q, t - d))
//     E(o, t) = S(o, t) + factor x seconds
#include <cstdint>

#include "programs/operation_times.hpp"
#include "programs/training_program.hpp"

namespace stepsim::programs {

// Whether the recurrence is exact if all ranks are equal: true for fifo streams without
// interference. Entry `each` is allowed, because equal ranks enter together.
[[nodiscard]] bool recurrence_applies(const Program& program);

// Runs a valid program for which recurrence_applies(). The result has one rank and `factors` must
// be for one rank, whatever program.ranks is.
[[nodiscard]] OperationTimes recurrence(const Program& program, std::int64_t iterations,
                                        const Factors& factors = {},
                                        Record record = Record::marker);

} // namespace stepsim::programs
