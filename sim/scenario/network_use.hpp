#pragma once
// Checks which training can run on a simulated network.
#include "scenario/parse_context.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

// Whether a job whose messages are simulated one by one is a training program. This is so for all
// jobs except parameter servers and synchronous all-reduces without further times or changes
// (compression, overlap, sharding, reduce_broadcast, sync_s and similar).
[[nodiscard]] bool sends_by_program(const Scenario& scenario);

// Reports settings that the flow and packet models do not have, at their keys. If every message is
// simulated, training that is defined by its own messages (parameter servers) or by times of
// exchanges is refused.
void check_network_use(const io::Json& tree, const ParseContext& context, const Scenario& scenario);

} // namespace stepsim::study
