// One row per command, with the function that runs it. Names, help and the nearest name to a
// misspelt one come from here, so that a command without a row does not exist.
#include "cli/commands/commands.hpp"

#include "cli/help/help_text.hpp"
#include "cli/shell/entry.hpp"

namespace stepsim::cli {

namespace {

// The order is that of help; commands of one group stand next to each other.
constexpr std::array kCommands{
    Command{"Training steps", "study", "from a recorded trace to a decision", study_trace},
    Command{"Training steps", "init", "a first scenario that runs, to start from", init},
    Command{"Training steps", "run", "the time of one training iteration and where it goes", run},
    Command{"Training steps", "explain", "what bounds a step and what would help", explain},
    Command{"Training steps", "compare", "alternatives side by side, best first", compare},
    Command{"Training steps", "sweep", "every point of a grid of scenario values", sweep},
    Command{"Training steps", "merge", "joins the shards of a sweep", merge},
    Command{"Training steps", "plot", "records of a sweep as a figure in SVG", plot_records},
    Command{"Training steps", "report", "a result, a sweep or a comparison as one page of HTML",
            report_page},
    Command{"Training steps", "web", "the what-if page, which answers in a browser", web_page},
    Command{"Training steps", "solve",
            "the values at which a number of the result reaches a target", solve},
    Command{"Training steps", "plan-training", "the fastest way to train that fits into memory",
            plan_training},
    Command{"Training steps", "tune", "the best value of a knob, and the curve", tune},
    Command{"Training steps", "fit-conditions", "what runs of your own lose, from measured steps",
            fit_conditions_command},
    Command{"Training steps", "fit-overlap", "the slowdown of overlap, from measured steps",
            fit_overlap_command},
    Command{"Training steps", "converge", "loss over simulated time on a small problem", converge},
    Command{"Parts of a step", "program", "a step as operations on streams", program},
    Command{"Parts of a step", "plan", "all planners on one merge problem", plan},
    Command{"Parts of a step", "collective", "the cost of collective operations", collective},
    Command{"Parts of a step", "flows", "completion times of flows through a network", flows},
    Command{"Parts of a step", "semantics", "a sparse exchange on given vectors", semantics},
    Command{"Papers", "reproduce", "the figures and claims of a paper from our own runs",
            reproduce},
    Command{"Data", "import", "measurements of other tools as traces and costs", import_files},
    Command{"Data", "examples", "copies the shipped examples and traces into a folder", examples},
    Command{"Data", "check", "validates any of the files", check},
    Command{"Data", "keys", "what a key of a scenario means and when it counts", keys},
    Command{"Data", "schema", "the JSON Schema of a kind of file", schema},
    Command{"Data", "models", "list and show the shipped layer tables of networks", models},
    Command{"Data", "topologies", "list, show and draw networks, node types and topologies",
            topologies},
    Command{"Data", "presets", "list and show node types, the machines that people own", presets},
    Command{"Help", "help", "the help of a command, man pages and shell completion", help},
};

// Commands of earlier versions, and what does their work.
constexpr std::pair<std::string_view, std::string_view> kFormerCommands[] = {
    {"breakeven", "compare FILE --break-even"},
    {"plan-units", "plan-training FILE --only units"},
};

} // namespace

std::span<const Command> commands() { return kCommands; }

const ProgramTable& stepsim_program() {
  static const ProgramTable program{
      .name = "stepsim",
      .summary = "predicts how long a training step takes on a GPU cluster, and why",
      .commands = kCommands,
      .help = program_help,
      .version = version_text,
      .former = kFormerCommands,
      .has_pages_of_commands = true};
  return program;
}

// The names are few: a search over the table is also the list of known words for the error.
const Command& find_command(const ProgramTable& program, const std::string& name) {
  if (const auto found = std::ranges::find(program.commands, name, &Command::name);
      found != program.commands.end()) {
    return *found;
  }
  const std::string program_name(program.name);
  for (const auto& [old, now] : program.former) {
    if (name == old) {
      throw UsageError(name + ": is a part of another command now: " + program_name + " " +
                       std::string(now));
    }
  }
  const std::string nearest =
      base::did_you_mean(name, base::collected<std::string_view>(program.commands, &Command::name));
  throw UsageError(base::shown_value(name) + ": unknown command" +
                   (nearest.empty() ? "; see " + program_name + " --help" : nearest));
}

// Without a command the help goes to standard error with the code of a usage error: a script that
// lost its argument must not go on. A command that is missing is a skip and no error: scripts that
// try all can go on.
int dispatch(const ProgramTable& program, int argc, char** argv) {
  Invocation invocation;
  invocation.started = std::chrono::steady_clock::now();
  invocation.command_line = command_line(program.name, argc, argv);
  if (argc < 2) {
    print_error_lines(program.help());
    return kUsage;
  }
  const std::string first = argv[1];
  if (first == "--help" || first == "-h") {
    print_text(program.help());
    return kOk;
  }
  if (first == "--version") {
    print_text(program.version());
    return kOk;
  }
  if (first.starts_with('-')) {
    throw UsageError(base::shown_value(first) +
                     ": unknown option; options follow the command, see " +
                     std::string(program.name) + " --help");
  }
  invocation.data_folder = find_data_folder();
  invocation.arguments.assign(argv + 2, argv + argc);
  const Command& command = find_command(program, first);
  return command.run != nullptr
             ? command.run(invocation)
             : report_error("built without " + std::string(command.missing), kSkipped);
}

} // namespace stepsim::cli
