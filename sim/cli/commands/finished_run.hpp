#pragma once
// Runs scenarios to complete results, for `stepsim run` on one file and on lines (--lines).

#include "cli/commands/scenario_input.hpp"
#include "scenario/scenario_tree.hpp"

namespace stepsim::cli {

// Runs a scenario to a complete result, for `stepsim run` on one file and on lines (--lines).

// Runs the scenario of `tree` and adds the other parts of a result: defaults, digests of files, and
// the measured exchanges of its trace. Throws as run_scenario() does.
[[nodiscard]] study::Result finished_run(const study::Scenario& scenario, const io::Json& tree,
                                         study::Files& files, const ScenarioFlags& flags,
                                         std::int64_t replications = 1);

// The resolved scenario of a result. File names in it are relative to the folder of `output`, with
// "-" to the working directory, and so is then the name of the calibration in the result.
[[nodiscard]] io::Json finished_scenario(study::Result& result, const io::Json& tree,
                                         const std::string& output,
                                         study::LayerList layers = study::LayerList::written);
// The result as JSON without `meta`, with the scenario of finished_scenario().
[[nodiscard]] io::Json finished_tree(study::Result result, const io::Json& tree,
                                     const std::string& output);

// `stepsim run --lines`: reads scenarios and writes results as JSON Lines, in one process.

// Reads lines from `file` ("-" = standard input) and answers each before it reads the next, in
// order. A line is a scenario, or an object with "scenario" (a scenario or a file name) and "set"
// {POINTER: VALUE}; the flags apply to every line, after "set". An error is a record {"kind":
// "error", "line", "code", "problems"}; empty lines are skipped. Returns kOk, or the exit code of
// the last line that failed. Throws InputError if `file` cannot be read.
[[nodiscard]] int run_lines(const Invocation& invocation, const std::string& file,
                            const ScenarioFlags& flags, const Common& common);

} // namespace stepsim::cli
