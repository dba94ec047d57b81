// One row per command, with the function that runs it. Names, help and the nearest name to a
// misspelt one come from here, so that a command without a row does not exist.
#include "cli/commands/commands.hpp"

#include "cli/help/help_text.hpp"
#include "cli/shell/entry.hpp"

namespace stepsim::cli {

namespace {

// The order is that of help; commands of one group stand next to each other.
constexpr std::string_view kSteps = "Training steps", kParts = "Parts of a step", kData = "Data";
constexpr auto kCommands = std::to_array<Command>({
    {kSteps, "study", "from a recorded trace to a decision", study_trace},
    {kSteps, "init", "a first scenario that runs, to start from", init},
    {kSteps, "run", "the time of one training iteration and where it goes", run},
    {kSteps, "explain", "what bounds a step and what would help", explain},
    {kSteps, "compare", "alternatives side by side, best first", compare},
    {kSteps, "sweep", "every point of a grid of scenario values", sweep},
    {kSteps, "merge", "joins the shards of a sweep", merge},
    {kSteps, "plot", "records of a sweep as a figure in SVG", plot_records},
    {kSteps, "report", "a result, a sweep or a comparison as one page of HTML", report_page},
    {kSteps, "web", "the what-if page, which answers in a browser", web_page},
    {kSteps, "solve", "the values at which a number of the result reaches a target", solve},
    {kSteps, "plan-training", "the fastest way to train that fits into memory", plan_training},
    {kSteps, "tune", "the best value of a knob, and the curve", tune},
    {kSteps, "fit-conditions", "what runs of your own lose, from measured steps",
     fit_conditions_command},
    {kSteps, "fit-overlap", "the slowdown of overlap, from measured steps", fit_overlap_command},
    {kSteps, "converge", "loss over simulated time on a small problem", converge},
    {kParts, "program", "a step as operations on streams", program},
    {kParts, "plan", "all planners on one merge problem", plan},
    {kParts, "collective", "the cost of collective operations", collective},
    {kParts, "flows", "completion times of flows through a network", flows},
    {kParts, "semantics", "a sparse exchange on given vectors", semantics},
    {"Papers", "reproduce", "the figures and claims of a paper from our own runs", reproduce},
    {kData, "import", "measurements of other tools as traces and costs", import_files},
    {kData, "examples", "copies the shipped examples and traces into a folder", examples},
    {kData, "check", "validates any of the files", check},
    {kData, "keys", "what a key of a scenario means and when it counts", keys},
    {kData, "schema", "the JSON Schema of a kind of file", schema},
    {kData, "models", "list and show the shipped layer tables of networks", models},
    {kData, "topologies", "list, show and draw networks, node types and topologies", topologies},
    {kData, "presets", "list and show node types, the machines that people own", presets},
    {"Help", "help", "the help of a command, man pages and shell completion", help},
});

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
