#pragma once
// Programs on the simulated network of a scenario: their exchanges go through it message by
// message, next to those of the other jobs (TRN 2.2, evaluator `events`; PKT 6, 7).
#include <cstdint>
#include <vector>

#include "program/operation_times.hpp"
#include "run/result.hpp"
#include "run/scenario_program.hpp"
#include "train/job/network_job.hpp"

namespace stepsim::study {

struct NetworkProgram {
  std::vector<train::NetworkJob> jobs; // the first is that of the program asked for
  train::JobsResult run;
};

// The jobs of `scenario`, each with its program; `made` is that of the first one.
[[nodiscard]] NetworkProgram network_program(const Scenario& scenario, const ScenarioProgram& made,
                                             std::int64_t iterations);

// Runs the jobs again with computing that exchanges do not slow.
[[nodiscard]] program::OperationTimes without_interference(const Scenario& scenario,
                                                           NetworkProgram program);

// What messages became of and how links were used, in iterations behind `discard`; every job by
// itself where there are several.
void fill_network(const Scenario& scenario, const Scenario& first, const NetworkProgram& program,
                  std::int64_t discard, Result& result);

// Times of the first `iterations` of a run.
[[nodiscard]] program::OperationTimes first_iterations(program::OperationTimes times,
                                                       std::int64_t iterations);

} // namespace stepsim::study
