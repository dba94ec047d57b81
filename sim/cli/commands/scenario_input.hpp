#pragma once
// Reads the scenario of a command: a file, changed by --set, --method, --seed and --conditions.
#include <string>
#include <vector>

#include "base/error.hpp"
#include "cli/shell/app.hpp"
#include "run/result.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::cli {

struct ScenarioFlags {
  std::vector<std::string> set; // POINTER=VALUE
  std::string method;           // "" = the method of the file
  std::string seed;             // "" = the seed of the file
  std::string conditions;       // "" = those of the file
  std::string max_seconds;      // "" = 600 s (kMaxSeconds)
  bool must_fit = false;        // exit code 4 where the memory of a GPU is too small
  std::string point;            // number of a point, for the output of a sweep; "" = not given
};

// Adds --set, --method, --seed, --conditions, --max-seconds and --point.
void add_scenario_flags(CLI::App& app, ScenarioFlags& flags);

// Adds --must-fit, whose sentence is `meaning`.
void add_must_fit_flag(CLI::App& app, bool& must_fit, const std::string& meaning);

// Adds the flags of /job, each short for --set; after add_scenario_flags().
void add_job_flags(CLI::App& app, ScenarioFlags& flags);

// Applies --conditions, every --set in the order typed, then --method and --seed, to a tree whose
// short forms are expanded; they stay expanded. Throws UsageError.
void apply_flags(io::Json& tree, const ScenarioFlags& flags);
// The same. Keys of the file that lose their meaning by it are dropped, each with a note.
void apply_flags(io::Json& tree, const ScenarioFlags& flags, study::Files& files,
                 const Common& common);

// The file with its short forms expanded and the flags applied (apply_flags). For a result, the
// scenario in it; for the output of a sweep, the scenario of --point. Throws as
// read_scenario_source() and apply_flags() do.
[[nodiscard]] io::Json read_scenario_tree(const std::string& file, const ScenarioFlags& flags,
                                          const std::string& data_folder, const Common& common,
                                          std::string_view other_kind = {});

// The estimated CPU seconds above which a run is refused. Throws UsageError for a text that is not
// a time.
[[nodiscard]] double max_seconds(const ScenarioFlags& flags);

// Throws UsageError that names the flag if a flag has set the value of the first problem, or an
// object that contains it; else returns.
void blame_flag(const InputError& error, const io::Json& tree, const ScenarioFlags& flags);

// Reads the scenario of `tree`. Throws UsageError that names the flag for a problem with a value
// that a flag has set, else InputError.
[[nodiscard]] study::Scenario load_scenario(const io::Json& tree, study::Files& files,
                                            const ScenarioFlags& flags, study::Leftovers leftovers);

// Runs the scenario, whatever its estimated CPU seconds: the caller compares them with
// max_seconds(). If its schedule cannot plan this workload (exhaustive for more than 20 gradients),
// throws UsageError that names the flag, or InputError for the file.
[[nodiscard]] study::Result run_scenario(const study::Scenario& scenario, const io::Json& tree,
                                         const ScenarioFlags& flags, std::int64_t replications = 1);

} // namespace stepsim::cli
