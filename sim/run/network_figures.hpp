#pragma once
// Figures of a run whose messages go through the simulated network one by one (PKT 8).
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "net/fabric/fabric.hpp"
#include "run/result.hpp"
#include "train/job/network_job.hpp"

namespace stepsim::study {

// The first steady iteration: without jitter all periods are equal unless the network remembers.
[[nodiscard]] std::size_t first_steady(const Scenario& scenario,
                                       const std::vector<train::JobIteration>& runs);

// Empty where no bytes were sent, so that none of them was lost; 0 would claim a measurement.
[[nodiscard]] std::optional<double> lost_part(double part, double whole);

// fct_*: messages of the discarded first iterations are left out, as in every other mean.
void fill_messages(const train::JobResult& job, std::size_t first, Summary& summary);
// loss_fraction, stale_fraction, effective_loss.
void fill_loss(const Scenario& scenario, std::span<const train::JobIteration> steady,
               Summary& summary);
// Messages of the last iteration, which starts at `start_s`, by bucket.
void fill_tensors(const train::JobResult& job, double start_s, Result& result);
void keep_messages(const train::JobResult& job, Result& result);
[[nodiscard]] std::vector<LinkResult> links_of(const net::Fabric& fabric,
                                               const train::JobsResult& run);
// Every job alone on the network, and all of them together while none has ended: once the first job
// has ended the others have more of the network.
[[nodiscard]] std::vector<JobTimes> times_of_jobs(const Scenario& scenario,
                                                  std::span<const train::NetworkJob> jobs,
                                                  const train::JobsResult& together);

} // namespace stepsim::study
