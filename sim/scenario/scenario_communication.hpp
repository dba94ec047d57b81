#pragma once
// /communication of a scenario: collective, schedule and compression of the gradients.
#include "coll/collective.hpp"
#include "scenario/parse_context.hpp"

namespace stepsim::study {

// The keys that say how a collective runs, but not which one: block_bytes, chunking, cost_form and
// the like, with the default of chunking in `options`. A file of kind collective has them too.
void read_options(io::Fields& fields, coll::Options& options);

// Reads the object; after workload, cluster and training are known, because defaults follow from
// them.
void parse_communication(io::Fields& fields, const ParseContext& context, Scenario& scenario);

} // namespace stepsim::study
