#pragma once
// Makes the job of a scenario for the simulated network. The buckets of the plan become the pieces
// of the job. Used by this folder only.
#include <cstddef>
#include <vector>

#include "buckets/problem.hpp"
#include "programs/job/network_job.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

// Whether gradients are exchanged with parameter servers instead of by an all-reduce.
[[nodiscard]] bool has_servers(const Scenario& scenario);
// Element l is the bytes of the gradients of layer l, in forward order from 0; 0 for a layer
// without gradients.
[[nodiscard]] std::vector<double> layer_bytes(const Scenario& scenario);

// The scenario of job number `job` (0 is the first job) alone, on the hosts of that job.
[[nodiscard]] Scenario scenario_of_job(const Scenario& scenario, std::size_t job);

struct PlannedJob {
  buckets::Plan plan; // buckets in the order in which their gradients are ready
  programs::NetworkJob job;
};
// The job of a scenario that has a single job, with its plan.
[[nodiscard]] PlannedJob planned_job(const Scenario& scenario);

// The network on which all jobs of the scenario run, at the flow or packet level.
[[nodiscard]] programs::JobNetwork network_of(const Scenario& scenario);

} // namespace stepsim::study
