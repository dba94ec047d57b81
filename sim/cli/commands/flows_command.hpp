#pragma once
// stepsim flows FLOWS: completion times of a list of flows, at the flow level or packet by packet
// (PKT 7.1), without any training.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Returns kOk. Throws InputError with all problems of the file, UsageError for flags and for a
// wrong value of --set, and SimulationError if the simulation exceeds its time limit.
[[nodiscard]] int flows(const Invocation& invocation);

} // namespace stepsim::cli
