#pragma once
// Runs a scenario to a complete result, for `stepsim run` on one file and on lines (--lines).
#include <cstdint>
#include <string>

#include "cli/commands/scenario_input.hpp"
#include "document/json.hpp"
#include "run/result.hpp"
#include "scenario/files.hpp"
#include "scenario/scenario.hpp"
#include "scenario/scenario_tree.hpp"

namespace stepsim::cli {

// Runs the scenario of `tree` and adds the other parts of a result: defaults, digests of files, and
// the measured exchanges of its trace. Throws as run_scenario() does.
[[nodiscard]] study::Result finished_run(const study::Scenario& scenario, const io::Json& tree,
                                         study::Files& files, const ScenarioFlags& flags,
                                         std::int64_t replications = 1);

// The resolved scenario of a result. File names in it are relative to the folder of `output`, with
// "-" to the working directory.
[[nodiscard]] io::Json finished_scenario(const study::Result& result, const io::Json& tree,
                                         const std::string& output,
                                         study::LayerList layers = study::LayerList::written);
// The result as JSON without `meta`, with the scenario of finished_scenario().
[[nodiscard]] io::Json finished_tree(const study::Result& result, const io::Json& tree,
                                     const std::string& output);

} // namespace stepsim::cli
