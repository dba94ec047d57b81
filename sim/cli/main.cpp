// stepsim COMMAND ...: finds the command and runs it.
#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "cli/commands/commands.hpp"
#include "cli/shell/entry.hpp"
#include "cli/shell/help.hpp"
#include "cli/shell/output.hpp"
#include "cli/shell/version.hpp"

namespace stepsim::cli {

namespace {

// Commands to come: a name that is near to one of them is no answer.
constexpr std::array<std::string_view, 2> kPlanned{"report", "web"};

// The names are few: a search over the table is also the list of known words for the error.
int run_command(const std::string& name, const Invocation& invocation) {
  std::vector<std::string_view> known;
  for (const Command& command : commands()) {
    if (command.name == name) {
      return command.run(invocation);
    }
    known.push_back(command.name);
  }
  if (std::ranges::find(kPlanned, name) != kPlanned.end()) {
    throw UsageError(name + ": not in this version");
  }
  const std::string nearest = base::did_you_mean(name, known);
  throw UsageError(base::shown_value(name) + ": unknown command" +
                   (nearest.empty() ? "; see stepsim --help" : nearest));
}

// `help COMMAND` is `COMMAND --help`, so that both cannot differ.
int dispatch(int argc, char** argv) {
  Invocation invocation;
  invocation.started = std::chrono::steady_clock::now();
  invocation.command_line = command_line("stepsim", argc, argv);
  if (argc < 2) {
    print_error_lines(program_help());
    return kUsage;
  }
  const std::string first = argv[1];
  if (first == "--help" || first == "-h" || (first == "help" && argc == 2)) {
    print_text(program_help());
    return kOk;
  }
  if (first == "--version") {
    print_text(version_text());
    return kOk;
  }
  invocation.data_folder = find_data_folder();
  if (first == "help") {
    invocation.arguments = {"--help"};
    return run_command(argv[2], invocation);
  }
  if (first.starts_with('-')) {
    throw UsageError(base::shown_value(first) +
                     ": unknown option; options follow the command, see stepsim --help");
  }
  invocation.arguments.assign(argv + 2, argv + argc);
  return run_command(first, invocation);
}

} // namespace

} // namespace stepsim::cli

// Everything that can throw runs inside run_program.
int main(int argc, char** argv) {
  return stepsim::cli::run_program(argc, argv, stepsim::cli::dispatch);
}
