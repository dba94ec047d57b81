#pragma once
// A program as commands take it: a file of kind program, or what a scenario becomes.
#include <optional>
#include <string>

#include "cli/commands/scenario_input.hpp"
#include "program/explain/attribution.hpp"
#include "programs/program_file.hpp"
#include "scenario/files.hpp"
#include "scenario/scenario.hpp"
#include "json/json.hpp"

namespace stepsim::cli {

struct ProgramInput {
  io::Json tree; // of the file, with the flags applied
  study::ProgramFile file;
  program::ProgramLabels labels;
  std::optional<study::Scenario> scenario; // of a scenario
};

// The program of a tree of kind program. A value that a flag has set is blamed on the flag.
[[nodiscard]] study::ProgramFile load_program(const io::Json& tree, study::Files& files,
                                              const ScenarioFlags& flags);

// Reads a file of kind program or scenario, or a result or point of a sweep, and makes the program.
// The progress shows about how long `runs` runs of the scenario take. Throws InputError `s.json:
// why there is none` for scenarios without a program, SimulationError if `runs` runs of the
// scenario take longer than --max-seconds.
[[nodiscard]] ProgramInput read_program(const std::string& file, study::Files& files,
                                        const ScenarioFlags& flags, int runs, const Common& common);

} // namespace stepsim::cli
