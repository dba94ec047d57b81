#pragma once
// Reads the program on which a command works, from a file of kind program or made from a scenario.
#include <optional>
#include <string>

#include "cli/commands/scenario_input.hpp"
#include "document/json.hpp"
#include "programs/explain/attribution.hpp"
#include "scenario/files.hpp"
#include "scenario/program_file.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::cli {

struct ProgramInput {
  io::Json tree; // content of the file, with the flags applied
  study::ProgramFile file;
  programs::ProgramLabels labels;          // empty for a file of kind program
  std::optional<study::Scenario> scenario; // empty for a file of kind program
};

// The program of a tree of kind program. Throws InputError, or UsageError that names the flag if a
// flag has set the wrong value.
[[nodiscard]] study::ProgramFile load_program(const io::Json& tree, study::Files& files,
                                              const ScenarioFlags& flags);

// Reads a file of kind program or scenario, or a result or point of a sweep, and makes the program.
// `runs` is the number of runs of the scenario that the command will do; the progress shows their
// estimated time. Throws InputError `s.json: REASON` if the scenario cannot become a program
// (why_no_program), and SimulationError if the estimated time is above --max-seconds.
[[nodiscard]] ProgramInput read_program(const std::string& file, study::Files& files,
                                        const ScenarioFlags& flags, int runs, const Common& common);

} // namespace stepsim::cli
