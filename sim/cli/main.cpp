// stepsim COMMAND ...: finds the command and runs it.

#include "base/error.hpp"
#include "cli/commands/commands.hpp"
#include "cli/help/help_text.hpp"
#include "cli/shell/entry.hpp"
#include "cli/shell/output.hpp"
#include "cli/shell/version.hpp"

namespace stepsim::cli {

namespace {

int dispatch(int argc, char** argv) {
  Invocation invocation;
  invocation.started = std::chrono::steady_clock::now();
  invocation.command_line = command_line("stepsim", argc, argv);
  if (argc < 2) {
    print_error_lines(program_help());
    return kUsage;
  }
  const std::string first = argv[1];
  if (first == "--help" || first == "-h") {
    print_text(program_help());
    return kOk;
  }
  if (first == "--version") {
    print_text(version_text());
    return kOk;
  }
  invocation.data_folder = find_data_folder();
  if (first.starts_with('-')) {
    throw UsageError(base::shown_value(first) +
                     ": unknown option; options follow the command, see stepsim --help");
  }
  invocation.arguments.assign(argv + 2, argv + argc);
  return find_command(first).run(invocation);
}

} // namespace

} // namespace stepsim::cli

// Everything that can throw runs inside run_program.
int main(int argc, char** argv) {
  return stepsim::cli::run_program(argc, argv, stepsim::cli::dispatch);
}
