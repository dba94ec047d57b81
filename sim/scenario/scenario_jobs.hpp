#pragma once
// Reads /workload of a scenario as a list: several training jobs on one fabric, each with its own
// `nodes`. The first job has the first nodes of the cluster, and so on.
#include "scenario/parse_context.hpp"

namespace stepsim::study {

// Reads the list. The first job becomes the workload of the scenario, the others `other_jobs`.
void parse_jobs(io::Fields& top, const ParseContext& context, Scenario& scenario);
// Checks that the jobs use all nodes and fit the collective and the network model. A workload that
// is not a list gets all nodes. Call it when all objects of the file have been read.
void check_jobs(const io::Json& tree, io::Problems& problems, Scenario& scenario);

} // namespace stepsim::study
