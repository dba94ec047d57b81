#pragma once
// A scenario that is run to a whole result, for `run` in each of its forms: one file, or lines.
#include <cstdint>
#include <string>

#include "cli/commands/scenario_input.hpp"
#include "run/result.hpp"
#include "scenario/files.hpp"
#include "scenario/scenario.hpp"
#include "json/json.hpp"

namespace stepsim::cli {

// Runs the scenario of `tree` and adds what a result holds besides its times: defaults, files, the
// measured exchanges of its trace. Throws as run_scenario.
[[nodiscard]] study::Result finished_run(const study::Scenario& scenario, const io::Json& tree,
                                         study::Files& files, const ScenarioFlags& flags,
                                         std::int64_t replications = 1);

// The result without `meta`. Names of files in it are relative to the folder of `output`.
[[nodiscard]] io::Json finished_tree(const study::Result& result, const io::Json& tree,
                                     const std::string& output);

} // namespace stepsim::cli
