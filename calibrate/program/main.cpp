// stepsim-calibrate COMMAND ...: finds the command and runs it. The table of commands is the same
// in every build. A command whose back end was not found when the program was built is listed,
// explains itself and ends with 77, so that a script which tries all back ends runs everywhere.

#include "calibrate/program/program.hpp"
#include "cli/commands/commands.hpp"
#include "cli/shell/entry.hpp"
#include "cli/shell/output.hpp"

namespace stepsim::calibrate {

namespace {

using CommandFunction = int (*)(const cli::Invocation&);

int help(const cli::Invocation& invocation);

constexpr bool kHasCuda = STEPSIM_CALIBRATE_CUDA != 0; // CMakeLists.txt defines both as 0 or 1
constexpr bool kHasMpi = STEPSIM_CALIBRATE_MPI != 0;

// The discarded branches need no definition of the functions that they name.
std::array<cli::Command, 8> all_commands() {
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
  return {{
      {"", "fit", "network parameters and curves from measured times", fit},
      {"", "fit-library", "the model of NCCL from logs of several shapes", fit_library_model},
      {"", "report", "predicted beside measured: errors, worst rows, plot", report},
      {"", "show", "what a calibration contains, and what is still assumed", show},
      {"", "cuda", "collectives and kernels measured on the local GPUs", on_gpus, "CUDA"},
      {"", "mpi", "collectives predicted and measured between processes", by_mpi, "MPI"},
      {"", "replay", "a training step executed for real", replayed, "MPI"},
      {"", "help", "the help of a command, man page and shell completion", help},
  }};
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
  for (const cli::Command& command : all_commands()) {
    out += "  " + std::string(command.name) + std::string(13 - command.name.size(), ' ');
    out.append(command.summary);
    out +=
        command.run == nullptr ? " (built without " + std::string(command.missing) + ")\n" : "\n";
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

const cli::ProgramTable& program() {
  static const std::array commands = all_commands();
  static const cli::ProgramTable program{.name = kProgram,
                                         .summary =
                                             "turns measurements into the numbers a scenario needs",
                                         .commands = commands,
                                         .help = help_text,
                                         .version = version_text};
  return program;
}

int help(const cli::Invocation& invocation) { return cli::help_of(invocation, program()); }

} // namespace

} // namespace stepsim::calibrate

int main(int argc, char** argv) {
  return stepsim::cli::run_program(argc, argv, [](int count, char** words) {
    return stepsim::cli::dispatch(stepsim::calibrate::program(), count, words);
  });
}
