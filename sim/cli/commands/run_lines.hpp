#pragma once
// `stepsim run --lines`: reads scenarios and writes results as JSON Lines, in one process.
#include <string>

#include "cli/commands/scenario_input.hpp"
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Reads lines from `file` ("-" = standard input) and answers each before it reads the next, in
// order. A line is a scenario, or an object with "scenario" (a scenario or a file name) and "set"
// {POINTER: VALUE}; the flags apply to every line, after "set". An error is a record {"kind":
// "error", "line", "code", "problems"}; empty lines are skipped. Returns kOk, or the exit code of
// the last line that failed. Throws InputError if `file` cannot be read.
[[nodiscard]] int run_lines(const Invocation& invocation, const std::string& file,
                            const ScenarioFlags& flags, const Common& common);

} // namespace stepsim::cli
