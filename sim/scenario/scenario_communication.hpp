#pragma once
// Reads /communication of a scenario: collective, schedule and compression of the gradients.
#include "collectives/collective.hpp"
#include "scenario/parse_context.hpp"

namespace stepsim::study {

// Reads the options of a collective: block_bytes, chunking, cost_form and others. If the key
// `chunking` is missing, options.chunking is left as it is, because its default depends on the
// caller. A file of kind collective has these keys, too.
void read_options(io::Fields& fields, collectives::Options& options);

// Reads the object. Workload, cluster and training must be known, because defaults depend on them.
void parse_communication(io::Fields& fields, const ParseContext& context, Scenario& scenario);

} // namespace stepsim::study
