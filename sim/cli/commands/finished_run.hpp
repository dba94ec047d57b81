#pragma once
// Runs scenarios to complete results, for `stepsim run` on one file and on lines (--lines).

#include "cli/commands/scenario_input.hpp"
#include "run/run_timeline.hpp"

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

// `stepsim run --lines`: reads scenarios and writes results as JSON Lines, in one process.

// Reads lines from `file` ("-" = standard input) and answers each before it reads the next, in
// order. A line is a scenario, or an object with "scenario" (a scenario or a file name) and "set"
// {POINTER: VALUE}; the flags apply to every line, after "set". An error is a record {"kind":
// "error", "line", "code", "problems"}; empty lines are skipped. Returns kOk, or the exit code of
// the last line that failed. Throws InputError if `file` cannot be read.
[[nodiscard]] int run_lines(const Invocation& invocation, const std::string& file,
                            const ScenarioFlags& flags, const Common& common);

// The timeline that `stepsim run` writes beside its result.

// As typed. Nodes and iterations are parsed once the scenario is known, which has their ranges.
struct TimelineFlags {
  std::string file; // "" = none is written
  std::string nodes, iterations;
};
inline constexpr const char* kTimelineGroup = "Timeline"; // of the flags, in help
void add_timeline_flags(CLI::App& app, TimelineFlags& flags);
// Refuses flags that have no meaning together, before any file is opened.
void check_timeline_flags(const TimelineFlags& options, const Common& common);
[[nodiscard]] study::TimelineFilter parse_filter(const TimelineFlags& options,
                                                 std::string_view nouns, std::int64_t nodes,
                                                 std::int64_t iterations);
// Writes the timeline to a file and returns the number of its bytes; with the flags, warns of a
// file that is too large for viewers.
std::uint64_t write_timeline(const std::string& file, const Common& common,
                             const events::Timeline& timeline);
void write_timeline(const TimelineFlags& options, const Common& common,
                    const events::Timeline& timeline);

} // namespace stepsim::cli
