#pragma once
// Checks which training can run on a simulated network.
#include "scenario/parse_context.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

// Reports settings that the flow and packet models do not have, at their keys, such as exchange_s,
// a measured cost or a published cost form. If every message is simulated, parameter servers also
// refuse sharding, reduce_broadcast, compression other than fp16 and plain codecs, other algorithms
// than synchronous steps, and schedules without Planner::fits_networks(). Other training then
// refuses selections on a side stream, horovod with compression or with iterations that overlap,
// and dear and sharding with an algorithm that has no reduce-scatter and all-gather of its own.
void check_network_use(const io::Json& tree, const ParseContext& context, const Scenario& scenario);

} // namespace stepsim::study
