#pragma once
// Lists of a result from a program that was evaluated: buckets, sharding units, layers and
// iterations. Times of `times` count from the start of the run, those of buckets, units and layers
// from the start of the last iteration.
#include <string_view>
#include <vector>

#include "program/operation_times.hpp"
#include "run/result.hpp"
#include "run/scenario_program.hpp"

namespace stepsim::study {

// When the first operation of an iteration starts on any rank, s.
[[nodiscard]] double iteration_start_s(const program::Program& program,
                                       const program::OperationTimes& times,
                                       std::int64_t iteration);

// `alone` are the ends of the marker without exchanges.
[[nodiscard]] std::vector<Iteration> program_iterations(const program::Program& program,
                                                        const program::OperationTimes& times,
                                                        const program::OperationTimes& alone);
[[nodiscard]] std::vector<Bucket> program_buckets(const Scenario& scenario,
                                                  const ScenarioProgram& made,
                                                  const program::OperationTimes& times);
[[nodiscard]] std::vector<UnitResult> program_units(const ScenarioProgram& made,
                                                    const program::OperationTimes& times);
[[nodiscard]] std::vector<LayerResult> program_layers(const Scenario& scenario,
                                                      const ScenarioProgram& made,
                                                      const program::OperationTimes& times);

// Mean seconds of the iterations from `first` on during which rank 0 has an exchange under way, on
// the stream of this name or on any stream.
[[nodiscard]] double exchange_seconds(const program::Program& program,
                                      const program::OperationTimes& times, std::int64_t first,
                                      std::string_view stream = {});

} // namespace stepsim::study
