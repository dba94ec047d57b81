#pragma once
// stepsim plan-units SCENARIO: finds the sharding units with the shortest iteration and compares
// them with the units of the framework. `tune --emit fsdp` writes them as settings of PyTorch
// (TRN 6, 8.3).
#include "cli/shell/app.hpp"
#include "document/json.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::cli {

// Returns kOk. Throws UsageError for flags and for a scenario that does not shard parameters,
// InputError for other errors of the file, and SimulationError if a run fails.
[[nodiscard]] int plan_units(const Invocation& invocation);

// Writes the settings as JSON to the output of `common` and prints the table of plan_units() with
// print_beside(). `tree` is the scenario as it was read, of which the settings contain the hash.
// Throws UsageError for a format other than json and for a scenario that does not shard parameters,
// and SimulationError if a run fails.
int emit_fsdp(const study::Scenario& scenario, const io::Json& tree, const Common& common);

} // namespace stepsim::cli
