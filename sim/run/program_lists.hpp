#pragma once
// Makes the lists of a result from an evaluated program: buckets, sharding units, layers and
// iterations. The input `times` are seconds from the start of the run and must have been recorded
// with Record::all (not checked). The times of buckets, units and layers are seconds from the start
// of the last iteration.

#include "run/result.hpp"
#include "run/scenario_program.hpp"

namespace stepsim::study {

// When the last operation that computes or sends ends, the tail left out.
[[nodiscard]] double latest_work_end_s(const programs::Program& program,
                                       const programs::OperationTimes& times);
// The time in seconds at which the first operation of an iteration starts on any rank.
[[nodiscard]] double iteration_start_s(const programs::Program& program,
                                       const programs::OperationTimes& times,
                                       std::int64_t iteration);

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

// The buckets of a plan, without times.
[[nodiscard]] std::vector<Bucket> plain_buckets(const Scenario& scenario, const buckets::Plan& plan,
                                                std::span<const ProgramUnit> units);

// Sets result.links, the use of every link by all iterations, and result.heat, if buckets were
// exchanged over a fabric one after the other. The makespan must be set.
void fill_links(const Scenario& scenario, std::span<const ProgramUnit> units, Result& result);

} // namespace stepsim::study
