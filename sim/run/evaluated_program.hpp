#pragma once
// Evaluates the program of a scenario, either with given exchange times (recurrence, max_plus,
// events) or with all messages on the simulated network. The program is evaluated twice: with its
// exchanges, and with exchanges that take no time. The difference is the exposed communication
// (TRN 2.6).

#include "programs/job/network_job.hpp"
#include "run/result.hpp"
#include "run/scenario_program.hpp"

namespace stepsim::study {

// Runs programs whose exchanges are simulated message by message on the network of a scenario, next
// to the messages of the other jobs (TRN 2.2, evaluator `events`; PKT 6, 7).

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
// Moves the messages of one job, and the programs of jobs after the first one, out of `program`.
void fill_network(const Scenario& scenario, const Scenario& first, NetworkProgram& program,
                  std::int64_t discard, Result& result);

// Whether the operation is of the compute stream: selections on a stream of their own run beside
// it.
[[nodiscard]] bool computes(const programs::Program& made, const programs::Operation& operation);

// The iterations of a program whose exchanges take no time.
struct AloneTimes {
  std::vector<double> ends; // [iteration]: of its marker
  double period{};          // mean seconds per iteration
  // [Kind]: seconds that operations of the compute stream take, per step.
  std::array<double, programs::kKindCount> computing{};
};

// The times of all iterations with exchanges, the ends of their markers with and without (`alone`)
// exchanges, and the mean seconds per iteration of both. The ends have one iteration more where
// iterations last from marker to marker of the next one, with the exchanges between them.
// `communication_s` and `outer_communication_s` are the seconds per iteration with an exchange
// under way, over the same iterations as the periods or, where these are the exact ones of the
// steady state, over the last iteration if it repeats the one before it, else over the second half
// of them. `interference` is the seconds per iteration that the slowdown by overlap adds; empty if
// the program has no slowdown.
struct EvaluatedProgram {
  programs::OperationTimes times;
  std::vector<double> ends; // [iteration]
  double period{};
  double steady{}; // of the steady state: differs from `period` where a pipeline fills (TRN 2.4)
  AloneTimes alone;
  double unselected{}; // period of `alone` without selections on a stream of their own
  double communication_s{}, outer_communication_s{};
  std::optional<double> interference;
  std::string method;
  std::optional<NetworkProgram> network; // set if every message was simulated
};

// Evaluates the program. `own` is the scenario or, if the scenario has several jobs, its first job
// alone; `made` belongs to `own`. `record` says which times of ranks that differ are asked for at
// least. `known` are the iterations without exchanges, which are computed if it is empty. Throws
// SimulationError if there are more instances (operations times ranks times iterations) than can be
// recorded, and where the simulated network throws it.
[[nodiscard]] EvaluatedProgram evaluated(const Scenario& scenario, const Scenario& own,
                                         const ScenarioProgram& made, programs::Record record,
                                         std::optional<AloneTimes>& known);

// The period of evaluated() alone.
[[nodiscard]] double evaluated_period(const Scenario& scenario, const Scenario& own,
                                      const ScenarioProgram& made);

// The period of the program if its exchanges take no time, also where messages are simulated.
[[nodiscard]] double period_alone(const Scenario& scenario, const ScenarioProgram& made);

// Seconds of an operation in the last iteration, on the first rank.
[[nodiscard]] inline double last_seconds(const programs::OperationTimes& times,
                                         std::uint32_t operation) {
  const std::size_t at = times.at(times.iterations - 1, operation, 0);
  return times.end[at] - times.start[at];
}

// The times of all operations of the scenario's program whose exchanges have given times; of
// workers that differ on fifo streams, from iteration `from` on.
[[nodiscard]] programs::OperationTimes
recorded_times(const Scenario& scenario, const ScenarioProgram& made, std::int64_t from = 0);

} // namespace stepsim::study
