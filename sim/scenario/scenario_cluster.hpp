#pragma once
// Reads /cluster of a scenario: machines, the links between and inside them, and the profiles and
// measured curves with their numbers.
#include "scenario/parse_context.hpp"

namespace stepsim::study {

// Reads the object; missing values come from a calibration, else from a node type.
void parse_cluster(io::Fields& fields, const ParseContext& context, Scenario& scenario);

// Sets the cost curve that replaces the evaluators of collectives, from the first of these that is
// given: exchange_s, `cost`, the calibration. A curve of the calibration counts only for its number
// of ranks and, unless the collective is `calibrated`, without a latency_s, delay_s or
// bandwidth_Bps next to it. Call it when cluster and communication are known. For compressed
// gradients it removes exchange_s and, except for fp16, the curve, which were measured for dense
// ones. On a simulated network, or with the library model, it does nothing.
void resolve_curve(const io::Json& tree, const ParseContext& context, Scenario& scenario);
// Reports a missing network. GPUs of one node need a network inside the node: given, of the node
// type, or of the calibration (its link class nvlink, pcie or host). This does not apply if a
// curve, exchange_s or a topology replaces the links. Dedicated servers need a network between
// nodes.
void require_networks(const io::Json& tree, const ParseContext& context, Scenario& scenario);

} // namespace stepsim::study
