#pragma once
// Reads the scenario of a command: a file, changed by --set, --method, --seed and --conditions.

#include "cli/shell/app.hpp"
#include "programs/explain/binding_path.hpp"
#include "run/result.hpp"
#include "study/sweep/sweep.hpp"

namespace stepsim::cli {

struct ScenarioFlags {
  std::string file;                    // the argument SCENARIO; "-" = standard input
  std::vector<std::string> over;       // POINTER=VALUES
  std::vector<std::string> set;        // POINTER=VALUE
  std::string_view set_flag = "--set"; // the flag of these values, in errors
  // Which flags of add_job_flags() were typed, by the pointer that they set: "/job/node_mtbf_s" ->
  // "--mtbf".
  std::map<std::string, std::string> job;
  std::string method;      // "" = the method of the file
  std::string seed;        // "" = the seed of the file
  std::string conditions;  // "" = those of the file
  std::string max_seconds; // "" = 600 s (kMaxSeconds)
  bool must_fit = false;   // exit code 4 where the memory of a GPU is too small
  std::string point;       // number of a point, for the output of a sweep; "" = not given

  // Whether the scenario differs from that of its file.
  [[nodiscard]] bool change_it() const {
    return !set.empty() || !method.empty() || !seed.empty() || !conditions.empty();
  }
};

// Adds --set, --method, --seed, --conditions, --max-seconds and --point.
void add_scenario_flags(CLI::App& app, ScenarioFlags& flags);

// Adds --must-fit, whose sentence is `meaning`.
void add_must_fit_flag(CLI::App& app, bool& must_fit, const std::string& meaning);

// The exit code that --must-fit makes, if it was typed. Warns where no memory of a GPU is known,
// and so nothing can be told.
[[nodiscard]] int must_fit_code(bool must_fit, bool fits, bool is_known, const Common& common);
// The same for a run.
[[nodiscard]] int must_fit_code(bool must_fit, const study::Summary& summary, const Common& common);

inline constexpr const char* kJobGroup = "The whole training"; // of these flags, in help
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
[[nodiscard]] io::Json read_scenario_tree(const ScenarioFlags& flags, study::Files& files,
                                          const Common& common);

// The estimated CPU seconds above which a run is refused. Throws UsageError for a text that is not
// a time.
[[nodiscard]] double max_seconds(const ScenarioFlags& flags);
// Shows the estimated time in the progress. Throws as max_seconds() does, and SimulationError if
// the work takes longer than that.
void begin_work(double estimate_s, const ScenarioFlags& flags, const Common& common);

// With a thread per core, the flag --max-seconds, and progress that `common` shows, which must
// outlive it. Throws as max_seconds() does.
[[nodiscard]] study::SweepOptions sweep_options(const ScenarioFlags& flags, const Common& common);

// "/a/b" is at or below "/a", and not at or below "/a/bc".
[[nodiscard]] bool is_at_or_below(std::string_view place, std::string_view pointer);

// Throws UsageError that names the flag if a flag has set the value of the first problem, or an
// object that contains it; else returns.
void blame_flag(const InputError& error, const io::Json& tree, const ScenarioFlags& flags);

// Reads the scenario of `tree`. Throws UsageError that names the flag for a problem with a value
// that a flag has set, else InputError.
[[nodiscard]] study::Scenario load_scenario(const io::Json& tree, study::Files& files,
                                            const ScenarioFlags& flags,
                                            study::Leftovers leftovers = study::Leftovers::refuse);

// Runs the scenario, whatever its estimated CPU seconds: the caller compares them with
// max_seconds(). If its schedule cannot plan this workload (exhaustive for more than 20 gradients),
// throws UsageError that names the flag, or InputError for the file.
[[nodiscard]] study::Result run_scenario(const study::Scenario& scenario, const io::Json& tree,
                                         const ScenarioFlags& flags, std::int64_t replications = 1);

// `--over POINTER=V1,V2,...`, the flag of `compare`, `sweep` and `converge`.

// Adds the flag and returns its option, so that a command can put it into a group.
CLI::Option* add_over_flag(CLI::App& app, ScenarioFlags& flags);
// The axes of the flags. Throws UsageError that names the flag.
[[nodiscard]] std::vector<study::Axis> parse_over_flags(const ScenarioFlags& flags);

// Throws UsageError that names the flag if the first problem lies at, or inside, a field that
// --over varies, and as blame_flag() does; else throws `error` again.
[[noreturn]] void rethrow_for_flags(const InputError& error, const io::Json& scenario,
                                    const ScenarioFlags& flags);
// Calls `work` and returns its result. An InputError of it is rethrown by rethrow_for_flags().
template <class Work>
auto of_flags(const io::Json& scenario, const ScenarioFlags& flags, const Work& work) {
  try {
    return work();
  } catch (const InputError& error) {
    rethrow_for_flags(error, scenario, flags);
  }
}

// Reads the program on which a command works, from a file of kind program or made from a scenario.

struct ProgramInput {
  io::Json tree; // content of the file, with the flags applied
  study::ProgramFile file;
  programs::ProgramLabels labels;          // empty for a file of kind program
  std::optional<study::Scenario> scenario; // empty for a file of kind program
};

// Runs that the explanation of a program or scenario takes, about.
inline constexpr int kExplanationRuns = 20;

// The program of a tree of kind program, which the command will evaluate `runs` times; the progress
// shows their estimated time. Throws InputError, UsageError that names the flag if a flag has set
// the wrong value, and SimulationError if the estimated time is above --max-seconds.
[[nodiscard]] study::ProgramFile load_program(const io::Json& tree, study::Files& files,
                                              const ScenarioFlags& flags, int runs,
                                              const Common& common);

// Reads a file of kind program or scenario, or a result or point of a sweep, and makes the program.
// `runs` is that of load_program(), for a scenario the number of its runs. Throws as load_program()
// does, and InputError `s.json: REASON` if the scenario cannot become a program (why_no_program).
[[nodiscard]] ProgramInput read_program(const ScenarioFlags& flags, study::Files& files, int runs,
                                        const Common& common);

// Finds the tree of a scenario in a file of kind scenario, in a result, or at one point of a
// sweep's output.

struct ScenarioSource {
  io::Json tree; // short forms expanded
  // For a point of a sweep: its record (null if the file lacks it or is CSV) and its replication,
  // from 0.
  io::Json record;
  std::int64_t replication = 0;
  // For a result or a point: the digests of the files it was made from (scenario/file_names.hpp).
  io::Json files{};
};

// `point`: number of a point of a sweep's output, from 0, as typed; "" = not given. Throws
// UsageError for a point that is missing, not allowed or out of range, and InputError for a file
// that must be imported first: `FILE: this is a Kineto trace: stepsim import kineto FILE -o
// T.json`. Files that a result or a point names are found again (find_named_files()).
[[nodiscard]] ScenarioSource read_scenario_source(const std::string& file, const std::string& point,
                                                  const std::string& data_folder);
// The scenario of a tree that is one, or a result.
[[nodiscard]] ScenarioSource scenario_in(io::Json tree, const std::string& data_folder);

} // namespace stepsim::cli
