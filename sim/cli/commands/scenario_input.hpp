#pragma once
// A scenario as commands take it: a file, changed by --set, --method and --seed.
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "cli/shell/app.hpp"
#include "run/result.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::cli {

struct ScenarioFlags {
  std::vector<std::string> set; // POINTER=VALUE
  std::string method;           // "" = the file's
  std::string seed;             // "" = the file's
  std::string max_seconds;      // "" = 600 s (kMaxSeconds)
  std::string point;            // of a sweep's output; "" = the file is none
};

// Adds --set, --method, --seed, --max-seconds and --point.
void add_scenario_flags(CLI::App& app, ScenarioFlags& flags);

// Changes the tree by every --set in the order typed, then by --method and --seed. Its short forms
// must be expanded, and stay so. Throws UsageError.
void apply_flags(io::Json& tree, const ScenarioFlags& flags);

// The file with its short forms expanded and the flags applied (apply_flags). A result stands for
// the scenario inside it, the output of a sweep with --point for that point's.
[[nodiscard]] io::Json read_scenario_tree(const std::string& file, const ScenarioFlags& flags);

// Estimated CPU seconds of one run above which it is refused. Throws UsageError for a text that is
// no time.
[[nodiscard]] double max_seconds(const ScenarioFlags& flags);

// Throws a UsageError that names the flag if a flag has set the value of the first problem, or an
// object around it; else returns.
void blame_flag(const InputError& error, const io::Json& tree, const ScenarioFlags& flags);

// Reads the scenario of `tree`. A problem with a value that a flag has set is a UsageError that
// names the flag, all others stay InputErrors.
[[nodiscard]] study::Scenario load_scenario(const io::Json& tree, study::Files& files,
                                            const ScenarioFlags& flags, study::Leftovers leftovers);

// Runs the scenario. A schedule that cannot plan this workload (exhaustive, more than 20 gradients)
// is blamed on the flag or the file likewise.
[[nodiscard]] study::Result run_scenario(const study::Scenario& scenario, const io::Json& tree,
                                         const ScenarioFlags& flags, std::int64_t replications = 1);

} // namespace stepsim::cli
