#pragma once
// Checks every collective before it is timed (CAL 7.2, 8.2), for 0, 1, P-1, P and 10^6+1 elements
// on P ranks: all elements, bit by bit, on every rank that has a result, and the number of bytes
// that each rank sent.
#include <string>

#include "calibrate/mpi/wire.hpp"

namespace stepsim::calibrate::mpi {

// Checks one collective over the ranks of `wire`; all ranks must call it with the same arguments.
// `elements` are entries for a sparse kind. Throws SimulationError on a rank with a wrong element
// or byte count: `lp allreduce P=4 n=5 rank 2: element 3 is 40, expected 30`. The other ranks do
// not learn of it.
void verify(const Kind& kind, std::int64_t elements, const MessageOptions& options, Wire& wire);
// Checks every kind at these five sizes; for sparse kinds the largest is 10,001 entries.
void verify_all(const MessageOptions& options, Wire& wire);

} // namespace stepsim::calibrate::mpi
