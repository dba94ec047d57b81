#pragma once
// The best sharding units of a scenario next to those of its framework, of one layer each and of
// all layers together (TRN 6, 8.3). Every row equals a run with its wrapping.
#include <optional>
#include <string>
#include <vector>

#include "plan/unit_planner.hpp"
#include "run/result.hpp"
#include "scenario/scenario.hpp"
#include "json/json.hpp"

namespace stepsim::study {

struct PlannedUnits {
  std::string name; // optimal, configured, default, layer, all
  double step_s{};
  double memory_bytes{};
  std::optional<bool> fits;      // memory_bytes of the scenario; empty without
  std::vector<UnitResult> units; // forward order
};

struct UnitPlanning {
  plan::UnitPlan plan;
  std::optional<std::int64_t> largest_unit; // that memory and keys allow, in parameters
  std::vector<PlannedUnits> rows;           // optimal first; `default` is that of the preset
  std::vector<std::string> warnings;
};

// `scenario` must shard parameters. Throws SimulationError as best_units() and runs do.
[[nodiscard]] UnitPlanning plan_sharding_units(const Scenario& scenario);
[[nodiscard]] const PlannedUnits& row_of(const UnitPlanning& planning, std::string_view name);

[[nodiscard]] io::Json unit_planning_tree(const Scenario& scenario, const UnitPlanning& planning);
// Settings for PyTorch's FSDP with a Python snippet that applies them; `tree` is the scenario as it
// was read, for its digest.
[[nodiscard]] io::Json fsdp_units_tree(const Scenario& scenario, const io::Json& tree,
                                       const UnitPlanning& planning);

} // namespace stepsim::study
