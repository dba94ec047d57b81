#pragma once
// Finds the best sharding units of a scenario and compares them with the default units of its
// framework, with one unit per layer and with one unit of all layers (TRN 6, 8.3). Every row is the
// result of a full run with its units.

#include "buckets/unit_planner.hpp"
#include "run/result.hpp"

namespace stepsim::study {

struct PlannedUnits {
  std::string name; // optimal, configured, default, block, layer, all
  double step_s{};
  double memory_bytes{};
  std::optional<bool> fits;      // memory_fits of the run
  std::vector<UnitResult> units; // forward order
};

struct UnitPlanning {
  buckets::UnitPlan plan;
  // Most parameters that gpu_memory_bytes and max_unit_parameters allow in a unit; empty: no limit.
  std::optional<std::int64_t> largest_unit;
  // In this order: optimal, which no other row that fits is faster than; configured, only if the
  // wrapping of the scenario is neither optimal nor that of its preset; default, that of the
  // preset; block, if it is none of these; layer; all.
  std::vector<PlannedUnits> rows;
  std::vector<std::string> warnings;
};

// `scenario` must shard parameters. Throws SimulationError where best_units() or run() throws it.
[[nodiscard]] UnitPlanning plan_sharding_units(const Scenario& scenario);
// The row `name`, which must exist.
[[nodiscard]] const PlannedUnits& row_of(const UnitPlanning& planning, std::string_view name);

// The object that `plan-training --only units --json` prints.
[[nodiscard]] io::Json unit_planning_tree(const Scenario& scenario, const UnitPlanning& planning);
// The settings for PyTorch's FSDP, with a Python snippet that applies them and the SHA-256 of
// `tree`, the scenario as it was read.
[[nodiscard]] io::Json fsdp_units_tree(const Scenario& scenario, const io::Json& tree,
                                       const UnitPlanning& planning);

// Python that lists the modules of units whose first layers, from 0, are `begins`, up to the
// further arguments of fully_shard(). Layers without parameters are no modules to shard, but belong
// to a unit all the same.
[[nodiscard]] std::string python_units(const layers::Workload& workload,
                                       const std::vector<std::uint32_t>& begins);

} // namespace stepsim::study
