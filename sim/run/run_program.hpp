#pragma once
// Runs a scenario as a program (scenario_program.hpp): training with micro-batches, sharding, local
// steps or delayed updates, and slowdowns by overlap that the formulas of steps do not cover. The
// evaluators of programs give the result (TRN 2.3). If all workers are equal, one rank stands for
// all of them and the period is exact; with random factors or stragglers every rank is evaluated.
// On a simulated network the period is a mean over iterations.

#include "run/program_memory.hpp"

namespace stepsim::study {

// Throws SimulationError where scenario_program() or evaluated() throws it, for example if there
// are more operations times ranks times iterations than can be recorded.
// `memory`, if not null, holds what earlier runs kept; for lists it is not used.
[[nodiscard]] Result run_program(const Scenario& scenario, Detail detail = Detail::all,
                                 ProgramMemory* memory = nullptr);

// Returns the step of run_program(), which nothing else is made of. `like` as for
// period_of().
[[nodiscard]] double program_period(const Scenario& scenario, ProgramMemory* memory = nullptr,
                                    const ProgramMemory* like = nullptr);

// Runs training with an asynchronous parameter server, which applies the push of every worker when
// it arrives, so that a gradient is applied to weights that other workers have changed meanwhile
// (staleness). In mode async no worker waits for another; in mode ssp one that is too far ahead
// waits for the slowest.

// The result of the run. The times in the summary are means over all workers; the list of
// iterations shows worker 0. Throws SimulationError where the evaluator of its exchange throws it.
[[nodiscard]] Result run_async_server(const Scenario& scenario);

// The input that run_async_server() passes to programs::run_async(), for callers that need the
// single updates.
[[nodiscard]] programs::AsyncInput async_input(const Scenario& scenario);

// The exchanges of synchronous servers whose workers differ. Every push is timed separately,
// because a late worker finds the server idle (PIP 3.2): it begins when its worker is ready and
// the message before it is back.

// Whether pushes can be timed separately and it matters. All of these must hold:
//   - a synchronous parameter server whose messages follow each other, or elastic averaging
//   - /variability changes some time
//   - more than one worker, and bytes to send
//   - /communication/cost_form exact and no measured curve
[[nodiscard]] bool has_server_rounds(const Scenario& scenario);
// Whether they are: has_server_rounds(), and `method` is `events` or not given.
[[nodiscard]] bool needs_server_rounds(const Scenario& scenario);
// The rule that gives the end of the last pull of a message, for all workers; empty where pushes
// are not timed separately. The plan of `made` must be set.
[[nodiscard]] programs::EachRule server_rule(const Scenario& scenario, const ScenarioProgram& made);
// The events that the rule simulates in one iteration, whoever comes first.
[[nodiscard]] std::uint64_t round_events(const Scenario& scenario, const ScenarioProgram& made);

// What a result says of pipelined training that runs as a program (PIP 8, 10, 11): the pipeline
// width, the gradients that iterations apply, and the gradients that are left at the end.

// Whether pipeline_width is "optimal".
[[nodiscard]] bool searches_width(const Scenario& scenario);

// The scenario with the best width (PIP 10).
[[nodiscard]] Scenario with_best_width(const Scenario& scenario);

// Sets pipeline_width, the figures of staleness, in_flight_gradients and, with /training/drain,
// makespan_drained_s, the formulas of the period unless messages are simulated, and the gradient
// that each of result.iterations applies. `times` has all operations of `made`.
void fill_pipeline(const Scenario& scenario, const ScenarioProgram& made,
                   const programs::OperationTimes& times, Result& result);

// Gives a program that a run made the times of the next run, without making it anew.

// Retimes memory.made, which must be set, for a scenario that differs as ProgramMemory says. False,
// with the program to be made anew, where the scenario may have other operations: where costs or
// times choose other buckets, messages are simulated, or the number of ranks counts in what the
// operations compute. What moved factors leave as it is in the run that is `like` this one, if not
// null (period_of()), is taken from there.
[[nodiscard]] bool retime(const Scenario& scenario, MadeFor made_for, const ProgramMemory* like,
                          ProgramMemory& memory);

// The word for what bounds the step of a program: the workers it waits for, or what verdict() says
// of its binding path.

// `found` is the evaluation of `made`; `summary` has its times.
[[nodiscard]] std::string_view program_bottleneck(const Scenario& scenario,
                                                  const ScenarioProgram& made,
                                                  const EvaluatedProgram& found,
                                                  const Summary& summary);

// Figures of a run that was evaluated as a program, which follow from its operations and from the
// scenario. All times are seconds per step of the optimizer.

// Seconds between `from_s` and `to_s` during which one of the first `ranks` ranks has an exchange
// of iteration `first` or a later one in flight on the stream of this name, or on any stream if the
// name is empty.
[[nodiscard]] double exchange_seconds(const ScenarioProgram& made,
                                      const programs::OperationTimes& times, std::int64_t first,
                                      double from_s, double to_s, std::string_view stream,
                                      std::size_t ranks = 1);
// Mean seconds per step of one worker alone, the baseline of speed-up and efficiency. It trains
// with all micro-batches, and updates what a rank of the run updates (TRN 4.4, 4.5). Its factors
// are those of the steps first..last (from 0) of all workers, so that lucky ones do not look like a
// speed-up, at the pace of the fastest worker, so that stragglers slow the run but not the
// baseline.
[[nodiscard]] double alone_seconds(const Scenario& scenario, std::int64_t first, std::int64_t last);
// What a rank sends in a step.
[[nodiscard]] double bytes_sent(const ScenarioProgram& made);
// Sets the parts of the period that computing takes, `alone_s` together: as much longer as the
// slowest ranks are. Without selections on a stream of their own it takes `unselected_s`.
void fill_computing(const Scenario& scenario, const ScenarioProgram& made, const WorkSums& sums,
                    const AloneTimes& alone, double alone_s, double unselected_s, Summary& summary);
// [rank]: seconds of computing per step, the mean over the iterations of the window.
[[nodiscard]] std::vector<double> mean_compute_s(const ScenarioProgram& made);
// Sets straggler_wait_s and, for lists, result.workers.
void fill_workers(std::span<const double> compute_s, double alone_s, bool lists, Result& result);
// Sets staleness and the gradients that iterations apply, of updates that all apply the gradients
// of the same number of iterations ago, in a run of `iterations`.
void fill_delays(const programs::Program& made, std::int64_t iterations, Result& result);
void fill_rounds(const Scenario& scenario, const EvaluatedProgram& found, Summary& summary);
// Sets lower_bound_s of dense all-reduces, and warns where factors make the iteration shorter than
// mean times allow. The iteration time must be set.
void fill_bound(const Scenario& scenario, const ScenarioProgram& made, const WorkSums& sums,
                const EvaluatedProgram& found, Result& result);

// Makes the lists of a result from an evaluated program: buckets, sharding units, layers and
// iterations. The input `times` are seconds from the start of the run and must have been recorded
// with Record::all (not checked). The times of buckets, units and layers are seconds from the start
// of the last iteration.

// When the last operation that computes or sends ends, the tail left out.
[[nodiscard]] double latest_work_end_s(const programs::Program& program,
                                       const programs::OperationTimes& times);

// How long the first `count` iterations last, with exposed communication relative to the same
// program without exchanges. `ends` and `alone_ends` are the ends of the markers; with one more
// than there are iterations an iteration lasts to the next marker, else from the marker before it.
[[nodiscard]] std::vector<Iteration> program_iterations(std::int64_t count,
                                                        const std::vector<double>& ends,
                                                        const std::vector<double>& alone_ends);
// Sets when iterations start, compute and exchange.
void add_spans(const programs::Program& program, const programs::OperationTimes& times,
               std::vector<Iteration>& iterations);
[[nodiscard]] std::vector<Bucket> program_buckets(const Scenario& scenario,
                                                  const ScenarioProgram& made,
                                                  const programs::OperationTimes& times);
[[nodiscard]] std::vector<UnitResult> program_units(const ScenarioProgram& made,
                                                    const programs::OperationTimes& times);
[[nodiscard]] std::vector<LayerResult> program_layers(const Scenario& scenario,
                                                      const ScenarioProgram& made,
                                                      const programs::OperationTimes& times);

// Makes the lists of a result: buckets, layers, iterations and links.

// Sets result.links, the use of every link by all iterations, and result.heat, if buckets were
// exchanged over a fabric one after the other. The makespan must be set.
void fill_links(const Scenario& scenario, std::span<const ProgramUnit> units, Result& result);

} // namespace stepsim::study
