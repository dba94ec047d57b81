#pragma once
// /workload of a scenario as a list: several training jobs that share one fabric, each with `nodes`
// of its own. The first has the first nodes of the cluster, and so on.
#include "scenario/parse_context.hpp"

namespace stepsim::study {

// Reads the list. The first job becomes the scenario's workload, the others `other_jobs`.
void parse_jobs(io::Fields& top, const ParseContext& context, Scenario& scenario);
// Checks that the jobs fill the cluster and fit its collective and network model. A workload that
// is no list gets all nodes. Call after all objects of the file have been read.
void check_jobs(const io::Json& tree, io::Problems& problems, Scenario& scenario);

} // namespace stepsim::study
