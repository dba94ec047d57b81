#pragma once
// Reads /workload of a scenario: a trace, a model table with the speed of a device, or layers in
// the scenario itself.
#include "scenario/parse_context.hpp"

namespace stepsim::study {

// Reads and loads one workload: sets `workload_source` to what is written and `workload` to layers
// and gradients, with granularity and scaling applied. Problems are reported; throws InputError for
// a trace with an unknown time or size and for files that cannot be read.
void parse_workload(io::Fields& fields, const ParseContext& context, Scenario& scenario);

} // namespace stepsim::study
