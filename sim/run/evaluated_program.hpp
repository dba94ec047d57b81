#pragma once
// A scenario's program by the evaluator that fits: by the times of its exchanges (recurrence,
// max_plus, events), or with their messages on the simulated network. It is evaluated twice, with
// its exchanges and with exchanges that take no time; what lies between the two is exposed
// communication (TRN 2.6).
#include <cstdint>
#include <optional>
#include <string>

#include "program/operation_times.hpp"
#include "run/network_program.hpp"
#include "run/scenario_program.hpp"

namespace stepsim::study {

// Times of the scenario's iterations with and without exchanges, mean seconds per iteration, and
// what interference adds to them.
struct EvaluatedProgram {
  program::OperationTimes times, alone;
  double period{}, alone_period{};
  std::optional<double> interference;
  std::string method;
  std::optional<NetworkProgram> network; // where every message was simulated
};

// `own` is the scenario, or its first job by itself where there are several; `made` and `factors`
// are those of `own`. Throws SimulationError for more instances than can be recorded, and as the
// network does.
[[nodiscard]] EvaluatedProgram evaluated(const Scenario& scenario, const Scenario& own,
                                         const ScenarioProgram& made,
                                         const program::Factors& factors);

// First iterations that its means leave out: the first half of a pipelined run fills the pipeline
// (PIP 10).
[[nodiscard]] std::int64_t discarded_of(const Scenario& scenario);

} // namespace stepsim::study
