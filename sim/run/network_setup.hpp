#pragma once
// What jobs on a simulated network are made of: the scenario of one of several jobs, its servers,
// and the network. Used by this folder only.
#include <cstddef>
#include <cstdint>
#include <vector>

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

// The servers of the job of a scenario that has servers.
[[nodiscard]] programs::JobServers servers_of(const Scenario& scenario);
// Bytes of one value of what the servers of the scenario sum.
[[nodiscard]] std::int64_t served_value_bytes(const Scenario& scenario);

// The network on which all jobs of the scenario run, at the flow or packet level.
[[nodiscard]] programs::JobNetwork network_of(const Scenario& scenario);

} // namespace stepsim::study
