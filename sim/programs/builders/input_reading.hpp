#pragma once
// Adds to the program of synchronous training the time to read the batches of an iteration
// (TRN 4.1, MER 7): on a stream of its own between one update and the next, while everything else
// goes on, or on the compute stream, after each forward pass, where nothing hides it.
//
//     period = max(reading, period without reading and update) + update     pipelined
//     period = reading + period without reading                             not pipelined
#include "base/units.hpp"
#include "programs/training_program.hpp"

namespace stepsim::programs {

// `input` is the time to read the batch of one micro-batch. The program must have an update and, if
// not `pipelined`, labels of micro-batches at its forward and backward.
[[nodiscard]] Program with_input(const Program& program, Seconds input, bool pipelined);

} // namespace stepsim::programs
