#pragma once
// The table of commands, in the order and groups of `stepsim --help`. A new command is a file
// NAME_command.cpp, its function here, and one row in commands.cpp. The headers below are what
// commands write their answers with.

#include "cli/shell/document.hpp"
#include "cli/shell/output.hpp"
#include "document/json_text.hpp"

namespace stepsim::cli {

struct Command {
  std::string_view group;
  std::string_view name;
  std::string_view summary; // one line of `stepsim --help`
  // Returns the exit code; errors are exceptions (cli/shell/entry.hpp). Null in a build without
  // what `missing` names.
  int (*run)(const Invocation&);
  std::string_view missing{};
};

// stepsim or stepsim-calibrate.
struct ProgramTable {
  std::string_view name;
  std::string_view summary;          // what it does, without its name
  std::span<const Command> commands; // the rows of a group follow one another
  std::string (*help)();             // the text of --help
  std::string (*version)();          // the text of --version
  // Commands of earlier versions, and what does their work.
  std::span<const std::pair<std::string_view, std::string_view>> former{};
  bool has_pages_of_commands = false; // whether each command has a separate man page
};
[[nodiscard]] const ProgramTable& stepsim_program();

// All commands of stepsim.
[[nodiscard]] std::span<const Command> commands();

// The command of this name. Throws UsageError for an unknown name, with the nearest known one.
[[nodiscard]] const Command& find_command(const ProgramTable& program, const std::string& name);

// Runs the command that the arguments name, or prints the help or the version, and returns the exit
// code: kUsage without a command, kSkipped for one that this build has not. Throws as the commands
// do, and UsageError for an unknown command or an option without one.
[[nodiscard]] int dispatch(const ProgramTable& program, int argc, char** argv);

// The commands. The first lines of NAME_command.cpp say what the command does. Each returns kOk
// unless it says otherwise, and throws UsageError for flags and their values, InputError with all
// problems of a file, and SimulationError if a run fails, if a number of the result is not finite,
// or if the work is estimated to take longer than --max-seconds.

// Returns kBadInput if any file has an error; warnings do not change the exit code.
[[nodiscard]] int check(const Invocation& invocation);
// Returns kInterrupted after Ctrl-C, when the points that were run are written. Everything is
// checked before anything is computed.
[[nodiscard]] int collective(const Invocation& invocation);
// Writes all rows, then throws SimulationError if any of them failed. Returns kInterrupted after
// Ctrl-C, when only the finished rows are written; with --algorithms or --rows, Ctrl-C ends the
// command without any.
[[nodiscard]] int compare(const Invocation& invocation);
// Returns kTargetNotMet if no curve reaches --target-loss; a quadratic problem that diverges is a
// result, not an error. Throws SimulationError if a curve fails, after all others are written.
[[nodiscard]] int converge(const Invocation& invocation);
// Throws UsageError for a file that is there with another content and without --force.
[[nodiscard]] int examples(const Invocation& invocation);
[[nodiscard]] int explain(const Invocation& invocation);
// Throws InputError, too, if MEASURED has fewer rows than there are constants to fit.
[[nodiscard]] int fit_conditions_command(const Invocation& invocation);
[[nodiscard]] int fit_overlap_command(const Invocation& invocation);
[[nodiscard]] int flows(const Invocation& invocation);
// Throws InputError for an input that lacks required data, such as a trace without gradient sizes
// if --allow-unknown-sizes is not given.
[[nodiscard]] int import_files(const Invocation& invocation);
// Throws UsageError if the file of -o exists (--force replaces it).
[[nodiscard]] int init(const Invocation& invocation);
[[nodiscard]] int keys(const Invocation& invocation);
// If points are missing, writes nothing, prints the commands that compute them, and returns
// kTargetNotMet. Throws InputError for shards of different sweeps.
[[nodiscard]] int merge(const Invocation& invocation);
[[nodiscard]] int models(const Invocation& invocation);
[[nodiscard]] int plan(const Invocation& invocation);
[[nodiscard]] int plan_training(const Invocation& invocation);
[[nodiscard]] int plot_records(const Invocation& invocation);
[[nodiscard]] int presets(const Invocation& invocation);
[[nodiscard]] int program(const Invocation& invocation);
[[nodiscard]] int report_page(const Invocation& invocation);
// Returns kOk also if claims are not met; kTargetNotMet if with --check a committed page or picture
// is missing or differs.
[[nodiscard]] int reproduce(const Invocation& invocation);
[[nodiscard]] int run(const Invocation& invocation);
[[nodiscard]] int schema(const Invocation& invocation);
// Returns kTargetNotMet at the first difference from the `expected` of the file.
[[nodiscard]] int semantics(const Invocation& invocation);
// Returns kTargetNotMet with the closest point if there is no crossing. Throws SimulationError if
// every point fails.
[[nodiscard]] int solve(const Invocation& invocation);
// Throws as trace_study() does, and InputError for a trace that cannot be imported.
[[nodiscard]] int study_trace(const Invocation& invocation);
// Returns kInterrupted after Ctrl-C; the file then has the finished points. Throws SimulationError
// at the end if a point failed. The file has a record for every failed point as well.
[[nodiscard]] int sweep(const Invocation& invocation);
[[nodiscard]] int topologies(const Invocation& invocation);
// Returns kTargetNotMet if no density is as fast as dense training. Throws SimulationError if every
// value fails.
[[nodiscard]] int tune(const Invocation& invocation);
// Throws UsageError if this build has no page.
[[nodiscard]] int web_page(const Invocation& invocation);

// stepsim help [COMMAND]: prints the help of the program and its commands as text, man pages, shell
// completion scripts or JSON.

// Returns kOk. Throws UsageError for an unknown command.
[[nodiscard]] int help(const Invocation& invocation);

// Runs the command `help` of a program. Throws UsageError, too, for a command that this build has
// not.
[[nodiscard]] int help_of(const Invocation& invocation, const ProgramTable& of);

} // namespace stepsim::cli
