#pragma once
// Finds the best division of a scenario's layers into sharding units (TRN 6): by the exact planner
// if it applies, else by a search that evaluates the program of the scenario. A model of many
// layers is divided between its blocks alone.

#include "buckets/unit_planner.hpp"
#include "run/scenario_program.hpp"

namespace stepsim::study {

// The memory of a rank, in bytes, which limits the size of a unit. Without memory_bytes the limit
// is infinite.
[[nodiscard]] buckets::UnitMemory unit_memory(const Scenario& scenario);
// The error message if memory.fixed_bytes (shards, optimizer and activations, which no division
// changes) exceed the limit; the caller checks whether they do.
[[nodiscard]] std::string too_small(const buckets::UnitMemory& memory);
// The most parameters of a unit that max_unit_parameters and the memory of a GPU allow; empty if
// neither is given. Throws SimulationError if the device is too small for the bytes that are the
// same for every division.
[[nodiscard]] std::optional<std::int64_t> largest_unit_of(const Scenario& scenario);

// Whether the best units are searched by whole programs, because labels do not plan their times.
[[nodiscard]] bool searches_units(const Scenario& scenario);
// The first layers, from 0, of what units are made of: layers, or blocks of many layers.
[[nodiscard]] std::vector<std::uint32_t> unit_parts(const Scenario& scenario);
// Whether labels plan the best units, of few enough parts and but for what exchanges slow.
[[nodiscard]] bool labels_apply(const Scenario& scenario);

// The best units for equal workers; the wrapping in the scenario is ignored. Throws SimulationError
// where the evaluator of a collective (evaluation.hpp) or largest_unit_of() throws
// it.
[[nodiscard]] buckets::UnitPlan best_units(const Scenario& scenario);

// The wrapping, with policy `list`, that has these cuts.
[[nodiscard]] layers::Wrapping wrapping_of(const buckets::Cuts& cuts);

// Makes the program of fully sharded training: layers are grouped into units, and the gathers and
// reductions of the units are timed (TRN 4.5).

// The parameters of all units.
[[nodiscard]] double parameters_of(const std::vector<ProgramUnit>& units);
// The time to encode a rank's shards of these units; 0 if parameters are not encoded.
[[nodiscard]] Seconds encode_seconds(const Scenario& scenario,
                                     const std::vector<ProgramUnit>& units);

// The units of a wrapping, which must not be `optimal`, without their exchanges.
[[nodiscard]] std::vector<ProgramUnit> units_of(const Scenario& scenario,
                                                const layers::Wrapping& wrapping);
// `parameters` rounded up to a multiple of `shards`, because all ranks have shards of equal size.
[[nodiscard]] std::int64_t padded(std::int64_t parameters, std::int64_t shards);

// The program. Sets units, method and events of `out`, and `certified` if the wrapping is optimal.
[[nodiscard]] programs::Program make_sharded_units(const Scenario& scenario, ScenarioProgram& out);
// Gives units, updates, encoding and decoding of a sharded program the parameters and times that
// they have on the ranks of the scenario. Its exchanges are to be timed anew.
void share_anew(const Scenario& scenario, ScenarioProgram& made);

} // namespace stepsim::study
