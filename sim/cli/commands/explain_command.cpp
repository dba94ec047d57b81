// stepsim explain SCENARIO|PROGRAM: what bounds a step, where its time goes and what would help.
// The program gives the path and the derivatives; what-if lines and causes of a measured time are
// runs of the scenario.
#include "cli/commands/commands.hpp"

#include <CLI/CLI.hpp>

#include "cli/commands/scenario_input.hpp"
#include "cli/shell/flag_values.hpp"
#include "cli/text/answer_texts.hpp"
#include "run/memory_figures.hpp"
#include "run/run.hpp"
#include "study/step_changes.hpp"
#include "study/sweep/assumed.hpp"

namespace stepsim::cli {

namespace {

constexpr CommandText kExplainText{
    "explain",
    "SCENARIO",
    "Tells what bounds a training step: the operations that wait for each other and set the pace, "
    "where\n"
    "their time goes, what each change would gain, and what may explain a measured time.",
    "stepsim explain scenario.json\n"
    "stepsim explain scenario.json --set /cluster/nodes=64\n"
    "stepsim explain scenario.json --measured 182ms\n"
    "stepsim explain step.program.json --json",
    "SCENARIO is a file of kind scenario or program; schemas/explanation.schema.json describes "
    "--json.",
    kJsonOrTable,
};

// A time, or the samples per second of one GPU: the number, and whether it is a rate.
std::pair<double, bool> measured_step(const std::string& text) {
  constexpr std::string_view kPerSecond = "samples/s";
  const bool is_rate = text.ends_with(kPerSecond);
  const auto parsed =
      base::parse_quantity(text.substr(0, text.size() - (is_rate ? kPerSecond.size() : 0)),
                           is_rate ? base::QuantityKind::ratio : base::QuantityKind::time);
  const double* number = std::get_if<double>(&parsed);
  if (number == nullptr || !(*number > 0)) {
    throw UsageError("--measured " + base::shown_value(text) +
                     ": must be a time or a throughput per GPU > 0, as 182ms or 149samples/s");
  }
  return {*number, is_rate};
}

double measured_seconds(const std::string& text, const study::Scenario& scenario) {
  const auto [number, is_rate] = measured_step(text);
  const auto& batch = scenario.workload.batch_size;
  if (is_rate && !batch) {
    throw UsageError("--measured " + text +
                     ": needs /workload/batch_size, the samples of a step of one GPU");
  }
  return is_rate ? static_cast<double>(*batch * scenario.training.micro_batches) / number : number;
}

// The step of the run decides, which what-if lines and the measured time are compared with.
void add_runs(const ProgramInput& input, const ScenarioFlags& flags, const std::string& measured,
              study::Files& files, const Common& common, study::Explained& explained) {
  const study::Result result = run_scenario(*input.scenario, input.tree, flags);
  explained.step_s = study::step_of(result.summary);
  explained.band = study::band_of(result.summary);
  explained.bottleneck = result.summary.bottleneck;
  explained.exceeds = study::exceeds_text(result.summary);
  explained.what_if = study::what_if_lines(input.tree, *input.scenario, explained.step_s, files,
                                           {.parts = result.summary.interval_parts,
                                            .exceeds_memory = !explained.exceeds.empty(),
                                            .warnings = &explained.warnings,
                                            .progress = counting(common)});
  explained.measure_next = study::measure_next(input.tree, *input.scenario, result.summary, files);
  if (!measured.empty()) {
    explained.measured = study::measured_causes(input.tree, *input.scenario, explained.step_s,
                                                measured_seconds(measured, *input.scenario), files);
  }
}

} // namespace

int explain(const Invocation& invocation) {
  std::string measured;
  ScenarioFlags flags;
  CLI::App app;
  add_argument(app, "SCENARIO", flags.file, "file of kind scenario or program; - = standard input");
  add_value(app, "--measured", measured, "TIME|THROUGHPUT",
            "measured time of a step, e.g. 182ms, or samples per second of a GPU, e.g. "
            "149samples/s; lists what may explain the difference");
  add_scenario_flags(app, flags);
  Common common(app, kExplainText, invocation);
  if (!measured.empty()) {
    (void)measured_step(measured);
  }
  study::Files files(invocation.data_folder, {common.output});
  ProgramInput input = read_program(flags, files, kExplanationRuns, common);
  study::Explained explained = study::explained_program(input.file, input.labels);
  if (input.scenario) {
    explained.source = "scenario";
    add_runs(input, flags, measured, files, common, explained);
  } else if (!measured.empty()) {
    throw UsageError("--measured needs a scenario, whose causes can be run; " + flags.file +
                     " is a program");
  } else {
    study::add_program_changes(input.file, explained);
  }
  explained.sentences = study::sentences_of(explained);
  write_document(common,
                 {.text = [&] { return explain_text(explained); },
                  .tree = [&] { return with_meta(study::explained_tree(explained), invocation); },
                  .warnings = explained.warnings});
  if (input.scenario) {
    print_notes(study::notes_of(study::sweep_over(input.tree, {}), files), common);
  }
  return kOk;
}

} // namespace stepsim::cli
