#pragma once
// The evaluator `events` for one of equal ranks whose streams are all fifo and whose exchanges are
// not slowed by computing. Every stream has at most one operation in progress, so that the next
// event is the soonest end of a few streams and no queue is needed. Times have the bits of
// ProgramEvents, because rates change at the same instants by the same equation (TRN 3.1):
//
//     left -= (now - since) / slowdown before,   end = now + left x slowdown from now on
#include <cstdint>
#include <limits>

#include "programs/operation_times.hpp"
#include "programs/training_program.hpp"

namespace stepsim::programs {

// Whether fifo_pass() can run the program: fifo streams, exchanges that start together and take
// their own time beside computing.
[[nodiscard]] bool fifo_pass_applies(const Program& program);

// Runs a valid program for which fifo_pass_applies(). The result has one rank and `factors` must be
// for one rank, whatever program.ranks is. The pass may stop as soon as all operations of the
// iterations before `needed` have ended; later ones and the makespan are then incomplete.
// O(operations + waits) x O(streams) per iteration.
[[nodiscard]] OperationTimes
fifo_pass(const Program& program, std::int64_t iterations, const Factors& factors = {},
          Record record = Record::marker,
          std::int64_t needed = std::numeric_limits<std::int64_t>::max());

} // namespace stepsim::programs
