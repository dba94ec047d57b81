#pragma once
// `stepsim run --lines`: scenarios as JSON Lines in, results as JSON Lines out, in one process.
#include <string>

#include "cli/commands/scenario_input.hpp"
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Reads lines from `file` ("-" = standard input) and answers each before the next is read, in
// order. A line is a scenario, or an object with "scenario" (a scenario or the name of a file) and
// "set" {POINTER: VALUE}; the flags then apply to every line. What fails is a record {"kind":
// "error", "line", "code", "problems"}. Returns kOk, or the exit code of the last line that failed.
[[nodiscard]] int run_lines(const Invocation& invocation, const std::string& file,
                            const ScenarioFlags& flags, const Common& common);

} // namespace stepsim::cli
