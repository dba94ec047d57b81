#pragma once
// The best division of a scenario's layers into sharding units (TRN 6): the exact planner where it
// applies, search by the program of the scenario elsewhere.
#include <cstdint>
#include <optional>
#include <string>

#include "plan/unit_planner.hpp"
#include "scenario/scenario.hpp"
#include "train/workload/layer_units.hpp"

namespace stepsim::study {

// Bytes of a rank that decide how large a unit may be. Without memory_bytes the limit is infinite.
[[nodiscard]] plan::UnitMemory unit_memory(const Scenario& scenario);
// What is wrong where the fixed bytes are above the limit, as a sentence.
[[nodiscard]] std::string too_small(const plan::UnitMemory& memory);
// The largest unit that max_unit_parameters and memory_bytes allow; empty if neither is given.
// Throws SimulationError where the device does not hold what no division changes.
[[nodiscard]] std::optional<std::int64_t> largest_unit_of(const Scenario& scenario);

// For equal workers, whatever wrapping the scenario has. Throws SimulationError as the evaluators
// of collectives and largest_unit_of() do.
[[nodiscard]] plan::UnitPlan best_units(const Scenario& scenario);

// The list of these cuts as a wrapping.
[[nodiscard]] train::Wrapping wrapping_of(const plan::Cuts& cuts);

} // namespace stepsim::study
