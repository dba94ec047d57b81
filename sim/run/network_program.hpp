#pragma once
// Runs programs whose exchanges are simulated message by message on the network of a scenario, next
// to the messages of the other jobs (TRN 2.2, evaluator `events`; PKT 6, 7).
#include <cstdint>
#include <vector>

#include "programs/job/network_job.hpp"
#include "programs/operation_times.hpp"
#include "run/result.hpp"
#include "run/scenario_program.hpp"

namespace stepsim::study {

struct NetworkProgram {
  std::vector<programs::NetworkJob> jobs; // the first job runs the program that was passed
  programs::JobsResult run;
};

// Runs the jobs of `scenario`, each with its own program; `made` is the program of the first job.
[[nodiscard]] NetworkProgram network_program(const Scenario& scenario, const ScenarioProgram& made,
                                             std::int64_t iterations);

// Runs the jobs again without interference. Returns the times of the first job.
[[nodiscard]] programs::OperationTimes without_interference(const Scenario& scenario,
                                                            NetworkProgram program);

// Sets the figures of messages and links in `result`, over the iterations after the first
// `discard`, and the times of every job if there are several. `first` is the first job's scenario.
void fill_network(const Scenario& scenario, const Scenario& first, const NetworkProgram& program,
                  std::int64_t discard, Result& result);

} // namespace stepsim::study
