// stepsim program SCENARIO: the scenario as operations on streams, as a file of kind program that
// `run` and `explain` take, and as a graph for Graphviz.
#include "cli/commands/commands.hpp"

#include <CLI/CLI.hpp>

#include "cli/commands/scenario_input.hpp"
#include "cli/text/topology_text.hpp"

namespace stepsim::cli {

namespace {

constexpr CommandText kProgramText{
    "program",
    "SCENARIO",
    "Writes the program that a scenario becomes: what every worker does in one iteration, as "
    "operations\n"
    "on streams that wait for each other. Change the file by hand and run it again.",
    "stepsim program scenario.json -o step.program.json\n"
    "stepsim program scenario.json -o step.program.json --dot step.dot\n"
    "stepsim run step.program.json",
    "SCENARIO is a file of kind scenario or program; the format is described in "
    "docs/file-formats.md\n"
    "and schemas/program.schema.json. A graph is drawn by dot -Tsvg step.dot -o step.svg.",
    kJsonOnly,
};

} // namespace

int program(const Invocation& invocation) {
  std::string dot;
  ScenarioFlags flags;
  CLI::App app;
  add_argument(app, "SCENARIO", flags.file, "file of kind scenario or program; - = standard input");
  add_value(app, "--dot", dot, "FILE.dot",
            "also writes the graph for Graphviz, the critical cycle bold");
  add_scenario_flags(app, flags);
  Common common(app, kProgramText, invocation);
  if (!dot.empty() && dot == common.output) {
    throw UsageError("--dot and -o name the same file");
  }
  study::Files files(invocation.data_folder, {common.output, dot});
  ProgramInput input = read_program(flags, files, 1, common);
  if (!dot.empty()) {
    const programs::Explanation found = programs::explain(
        input.file.program, {.evaluation = input.file.evaluation, .operations = 0});
    write_named(common, dot, program_dot(input.file.program, found.path, input.file.name));
  }
  write_tree(common, study::program_tree(input.file));
  if (input.scenario && input.scenario->variability.varies()) {
    input.file.warnings.emplace_back(
        "/variability: a program has no factors of its workers; in this one all are equal and "
        "every iteration takes the same times, unlike in a run of the scenario");
  }
  print_warnings(input.file.warnings, common);
  return kOk;
}

} // namespace stepsim::cli
