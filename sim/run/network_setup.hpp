#pragma once
// From a scenario to a job on a network: the plan's buckets become its pieces. Used by this folder
// only.
#include <cstddef>
#include <vector>

#include "plan/problem.hpp"
#include "scenario/scenario.hpp"
#include "train/job/network_job.hpp"

namespace stepsim::study {

[[nodiscard]] bool has_servers(const Scenario& scenario);
// Bytes by layer, in forward order, also for layers without gradients.
[[nodiscard]] std::vector<double> layer_bytes(const Scenario& scenario);

// One of the jobs of a scenario as a scenario of its own, on its part of the hosts.
[[nodiscard]] Scenario scenario_of_job(const Scenario& scenario, std::size_t job);

struct PlannedJob {
  plan::Plan plan; // buckets in the order in which their gradients are ready
  train::NetworkJob job;
};
// The only job of the scenario.
[[nodiscard]] PlannedJob planned_job(const Scenario& scenario);

[[nodiscard]] train::JobNetwork network_of(const Scenario& scenario);

} // namespace stepsim::study
