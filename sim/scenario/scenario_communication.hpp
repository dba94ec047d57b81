#pragma once
// /communication of a scenario: collective, schedule and compression of the gradients.
#include "scenario/parse_context.hpp"

namespace stepsim::study {

// Reads the object; after workload, cluster and training are known, because defaults follow from
// them.
void parse_communication(io::Fields& fields, const ParseContext& context, Scenario& scenario);

} // namespace stepsim::study
