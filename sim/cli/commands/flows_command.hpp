#pragma once
// stepsim flows FLOWS: completion times of a list of flows, at the flow level or packet by packet
// (PKT 7.1). No training is involved: it shows what the network alone does.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Returns kOk. Throws InputError with all problems of the file, UsageError where --set gave the
// wrong value, SimulationError where the simulation exceeds its limit.
[[nodiscard]] int flows(const Invocation& invocation);

} // namespace stepsim::cli
