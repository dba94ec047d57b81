#pragma once
// /cluster of a scenario: machines, the links between and inside them, and the profiles and
// measured curves that give their numbers.
#include "scenario/parse_context.hpp"

namespace stepsim::study {

// Reads the object; values of a calibration, else of a node type, fill what the file leaves open.
void parse_cluster(io::Fields& fields, const ParseContext& context, Scenario& scenario);

// After cluster and communication are known: the curve that stands for the evaluators, from
// exchange_s, `cost` or the calibration. Compressed gradients have none: curve and exchange_s are
// then taken out.
void resolve_curve(const io::Json& tree, const ParseContext& context, Scenario& scenario);
// GPUs of one node need a network inside it: given, of the node type, or of the calibration (its
// link class nvlink, pcie or host). Nothing is needed where a curve, exchange_s or a topology
// stands for the links. Dedicated servers need a network between nodes.
void require_networks(const io::Json& tree, const ParseContext& context, Scenario& scenario);

} // namespace stepsim::study
