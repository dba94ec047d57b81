// stepsim-calibrate COMMAND ...: finds the command and runs it. The table of commands is the same
// in every build. A command whose back end was not found when the program was built is listed,
// explains itself and ends with 77, so that a script which tries all back ends runs everywhere.

#include "calibrate/program/program.hpp"
#include "cli/commands/help_command.hpp"
#include "cli/shell/entry.hpp"
#include "cli/shell/output.hpp"
#include "cli/shell/version.hpp"

namespace stepsim::calibrate {

namespace {

using CommandFunction = int (*)(const cli::Invocation&);

struct Command {
  std::string_view name;
  std::string_view summary;
  CommandFunction run; // null: its back end is not compiled in
  std::string_view back_end;
};

int help(const cli::Invocation& invocation);

constexpr bool kHasCuda = STEPSIM_CALIBRATE_CUDA != 0; // CMakeLists.txt defines both as 0 or 1
constexpr bool kHasMpi = STEPSIM_CALIBRATE_MPI != 0;

// The discarded branches need no definition of the functions that they name.
std::array<Command, 8> all_commands() {
  CommandFunction on_gpus = nullptr;
  CommandFunction by_mpi = nullptr;
  CommandFunction replayed = nullptr;
  if constexpr (kHasCuda) {
    on_gpus = cuda;
  }
  if constexpr (kHasMpi) {
    by_mpi = run_mpi;
    replayed = replay;
  }
  return {
      Command{"fit", "network parameters and curves from measured times", fit, ""},
      Command{"fit-library", "the model of NCCL from logs of several shapes", fit_library_model,
              ""},
      Command{"report", "predicted beside measured: errors, worst rows, plot", report, ""},
      Command{"show", "what a calibration contains, and what is still assumed", show, ""},
      Command{"cuda", "collectives and kernels measured on the local GPUs", on_gpus, "CUDA"},
      Command{"mpi", "collectives predicted and measured between processes", by_mpi, "MPI"},
      Command{"replay", "a training step executed for real", replayed, "MPI"},
      Command{"help", "the help of a command, man page and shell completion", help, ""},
  };
}

// "CUDA (built without MPI)", "none (built without CUDA and MPI)".
std::string back_ends_text() {
  std::string present;
  std::string missing;
  for (const auto& [name, there] : {std::pair("CUDA", kHasCuda), std::pair("MPI", kHasMpi)}) {
    std::string& list = there ? present : missing;
    list += (list.empty() ? "" : " and ") + std::string(name);
  }
  return (present.empty() ? "none" : present) +
         (missing.empty() ? "" : " (built without " + missing + ")");
}

// Commands whose back end is missing are listed too, and say so.
std::string help_text() {
  std::string out =
      "stepsim-calibrate turns measurements into the numbers a scenario needs, and tests its own\n"
      "predictions.\n\nUsage: stepsim-calibrate COMMAND [arguments] [options]\n\nCommands:\n";
  for (const Command& command : all_commands()) {
    out += "  " + std::string(command.name) + std::string(13 - command.name.size(), ' ');
    out.append(command.summary);
    out +=
        command.run == nullptr ? " (built without " + std::string(command.back_end) + ")\n" : "\n";
  }
  return out +
         "\nExamples:\n"
         "  stepsim-calibrate fit nccl.log --op allreduce --assume ring -o h100.calibration.json\n"
         "  stepsim-calibrate report errors.jsonl -o errors.md\n\n"
         "`stepsim-calibrate COMMAND --help` explains a command, `stepsim-calibrate --version` the "
         "build.\n"
         "Exit codes: 0 ok, 1 error, 2 usage, 3 bad input file, 4 target not met,"
         " 77 skipped, 130 interrupted.\n";
}

std::string version_text() {
  std::string text(kProgram);
  text.append(" ").append(cli::version()).append(" (git ").append(cli::git_hash());
  return text + ")\nback ends: " + back_ends_text() + "\n";
}

// Throws UsageError, with the nearest name, for an unknown command.
Command find_command(const std::string& name) {
  std::vector<std::string_view> known;
  for (const Command& command : all_commands()) {
    if (command.name == name) {
      return command;
    }
    known.push_back(command.name);
  }
  const std::string nearest = base::did_you_mean(name, known);
  throw UsageError(base::shown_value(name) + ": unknown command" +
                   (nearest.empty() ? "; see stepsim-calibrate --help" : nearest));
}

// Commands of the back ends that this build lacks have no page.
int help(const cli::Invocation& invocation) {
  cli::ProgramPage program{
      kProgram,
      "turns measurements into the numbers a scenario needs",
      help_text(),
      {},
      [](const std::string& name) { return cli::page_of_command(find_command(name).run, ""); }};
  for (const Command& command : all_commands()) {
    if (command.run != nullptr) {
      program.commands.push_back({command.name, command.summary});
    }
  }
  return cli::help_of(invocation, program);
}

// Without a command the help goes to standard error with the
// code of a usage error: a script that lost its argument must not go on.
int dispatch(int argc, char** argv) {
  if (argc < 2) {
    cli::print_error_lines(help_text());
    return cli::kUsage;
  }
  const std::string first = argv[1];
  if (first == "--help" || first == "-h") {
    cli::print_text(help_text());
    return cli::kOk;
  }
  if (first == "--version") {
    cli::print_text(version_text());
    return cli::kOk;
  }
  cli::Invocation invocation;
  invocation.started = std::chrono::steady_clock::now();
  invocation.command_line = cli::command_line(kProgram, argc, argv);
  if (first.starts_with('-')) {
    throw UsageError(base::shown_value(first) + ": unknown option; options follow the command, see "
                                                "stepsim-calibrate --help");
  }
  invocation.data_folder = cli::find_data_folder();
  invocation.arguments.assign(argv + 2, argv + argc);
  const Command command = find_command(first);
  // A command without its back end is a skip (77) and no error: scripts can go on.
  return command.run != nullptr
             ? command.run(invocation)
             : cli::report_error("built without " + std::string(command.back_end), kSkipped);
}

} // namespace

} // namespace stepsim::calibrate

int main(int argc, char** argv) {
  return stepsim::cli::run_program(argc, argv, stepsim::calibrate::dispatch);
}
