#pragma once
// Evaluates the program of a scenario, either with given exchange times (recurrence, max_plus,
// events) or with all messages on the simulated network. The program is evaluated twice: with its
// exchanges, and with exchanges that take no time. The difference is the exposed communication
// (TRN 2.6).
#include <cstdint>
#include <optional>
#include <string>

#include "programs/operation_times.hpp"
#include "run/network_program.hpp"
#include "run/scenario_program.hpp"

namespace stepsim::study {

// The times of all iterations with exchanges (`times`) and without (`alone`, ends of
// the marker only), and the mean seconds per iteration of both. Means of `times` count from
// iteration `first_counted` on: the first one in the mean of the periods or, where the period is
// the exact one of the steady state, the first of the second half. `interference` is the seconds
// per iteration that the slowdown by overlap adds; empty if the program has no slowdown.
struct EvaluatedProgram {
  programs::OperationTimes times, alone;
  double period{}, alone_period{};
  std::int64_t first_counted{};
  std::optional<double> interference;
  std::string method;
  std::optional<NetworkProgram> network; // set if every message was simulated
};

// Evaluates the program. `own` is the scenario or, if the scenario has several jobs, its first job
// alone; `made` and `factors` belong to `own`. Throws SimulationError if there are more instances
// (operations times ranks times iterations) than can be recorded, and where the simulated network
// throws it.
[[nodiscard]] EvaluatedProgram evaluated(const Scenario& scenario, const Scenario& own,
                                         const ScenarioProgram& made,
                                         const programs::Factors& factors);

} // namespace stepsim::study
