#pragma once
// Every collective is right before it is timed (CAL 7.2, 8.2): all elements bitwise, on every rank
// that has a result, for 0, 1, P-1, P and 10^6+1 elements, and as many bytes sent as the schedule
// says.
#include <string>

#include "calibrate/mpi/wire.hpp"

namespace stepsim::calibrate::mpi {

// Collective over the ranks of `wire`: all must call it with the same arguments. Throws
// SimulationError on the rank that is wrong: `lp allreduce P=4 n=5 rank 2: element 3 is 40,
// expected 30`.
void verify(const Kind& kind, std::int64_t elements, const MessageOptions& options, Wire& wire);
// Every kind at every one of those sizes; sparse kinds end at 10,001 entries.
void verify_all(const MessageOptions& options, Wire& wire);

} // namespace stepsim::calibrate::mpi
