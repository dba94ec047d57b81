#pragma once
// /workload of a scenario: a trace, a model table with the speed of a device, or layers written
// into the scenario itself.
#include "scenario/parse_context.hpp"

namespace stepsim::study {

// Reads one workload and loads it: afterwards `workload_source` says what was written and
// `workload` holds layers and gradients, granularity and scaling applied. Problems are reported; a
// trace with an unknown time or size, and files that cannot be read, throw InputError.
void parse_workload(io::Fields& fields, const ParseContext& context, Scenario& scenario);

} // namespace stepsim::study
