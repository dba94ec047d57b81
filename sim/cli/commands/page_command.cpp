// stepsim report FILE: a result, a scenario, a sweep or a comparison as one page of HTML.
// A result is run again from the scenario inside it, so that the page has its timeline and what
// each change would gain.
#include "cli/commands/commands.hpp"

#include <CLI/CLI.hpp>

#include "base/shell_word.hpp"
#include "cli/commands/finished_run.hpp"
#include "cli/report/result_page.hpp"
#include "cli/shell/entry.hpp"
#include "import/import_detect.hpp"
#include "run/run.hpp"
#include "study/step_changes.hpp"

namespace stepsim::cli {

namespace {

constexpr std::array kReportFormats{Format::html, Format::json};
constexpr int kReportRuns = 21; // the run and its changes, about

constexpr CommandText kReportText{
    "report",
    "RESULT|SCENARIO|RECORDS",
    "Writes one page of HTML that answers how long a step takes, what was assumed, where the time\n"
    "goes and what would help most; of a sweep or comparison the best point, a figure and all\n"
    "points. The page asks for no other file, needs no script, and holds the scenario, which runs\n"
    "again.",
    "stepsim report result.json -o result.html\n"
    "stepsim report scenario.json --set /cluster/nodes=64 -o scenario.html\n"
    "stepsim report out.jsonl -o sweep.html\n"
    "stepsim report compare.json -o compare.html",
    "Files are described in docs/file-formats.md; --json gives the facts of the page.",
    kReportFormats,
};

constexpr const char* kInput = "<stdin>";

std::string footer_of(const std::string& file, const ScenarioFlags& flags,
                      const std::string& date) {
  std::string out = "stepsim " + std::string(version()) + " (git " + std::string(git_hash()) +
                    "): stepsim report " + base::quoted_word(file);
  out += base::listed(
      flags.set, [](const auto& set) { return " --set " + base::quoted_word(set); }, "");
  for (const auto& [name, value] :
       {std::pair("method", &flags.method), std::pair("seed", &flags.seed),
        std::pair("conditions", &flags.conditions), std::pair("point", &flags.point)}) {
    out += value->empty() ? "" : " --" + std::string(name) + " " + *value;
  }
  return out + (date.empty() ? "" : ", " + date);
}

std::string title_of(const std::string& file, const study::Scenario& scenario,
                     const ScenarioFlags& flags) {
  std::vector<std::string_view> changes(flags.set.begin(), flags.set.end());
  std::erase_if(changes, [](std::string_view set) { return set.starts_with("/name="); });
  return (scenario.name.empty() ? "A training step" : scenario.name) +
         (flags.point.empty() ? "" : ", point " + flags.point + " of " + file) +
         (changes.empty() ? "" : ", with " + base::joined(changes, " and "));
}

// Records of a sweep without --point, lists of records, and the object that `compare` writes.
// `text` is what standard input holds, which can be read once, else empty.
bool holds_records(const std::string& file, const std::string& text, const std::string& point) {
  if (!point.empty()) {
    return false;
  }
  const bool lines = text.find("}\n{") != std::string::npos;
  if (study::is_sweep_output(file == "-" ? text : io::head_of(file)) || lines ||
      file.ends_with(".csv") || file.ends_with(".jsonl")) {
    return true;
  }
  if (file != "-" && !file.ends_with(".json")) {
    return false;
  }
  const io::Json tree = file == "-" ? io::parse_json(text, kInput) : io::read_json(file);
  return tree.is_array() || (tree.find("kind") == nullptr && tree.find("rows") != nullptr);
}

// What a result recorded that a run of its scenario, in which every value is filled in, cannot
// tell.
struct Recorded {
  std::optional<double> step_s;
  std::optional<std::vector<study::DefaultValue>> defaults;
  std::optional<double> corrected_s; // by a measured step
};

Recorded recorded_in(const std::string& file) {
  Recorded out;
  if (file == "-") {
    return out;
  }
  const io::Json tree = io::read_json(file);
  for (const auto& [key, step] : {std::pair("summary", &Recorded::step_s),
                                  std::pair("measured_total", &Recorded::corrected_s)}) {
    if (const io::Json* part = tree.find(key)) {
      out.*step = study::number_in(*part, study::kIterationTime);
    }
  }
  const io::Json* defaults = tree.find("defaults");
  if (defaults == nullptr || !defaults->is_array()) {
    return out;
  }
  out.defaults.emplace();
  for (const io::Json& each : defaults->as_array()) {
    const std::string pointer = each.text("pointer");
    const std::string reason = each.text("reason");
    const io::Json* value = each.find("value");
    if (pointer.empty() || value == nullptr || reason.empty()) {
      throw InputError(file, each.pointer(), "must have pointer, value and reason");
    }
    out.defaults->push_back({.pointer = pointer,
                             .value = *value,
                             .reason = reason,
                             .decisive = study::always_decisive(pointer)});
  }
  return out;
}

ReportedRun reported_run(const std::string& file, const std::string& text,
                         const ScenarioFlags& flags, const Common& common, study::Files& files) {
  const ScenarioSource source = file == "-" && flags.point.empty()
                                    ? scenario_in(io::parse_json(text, kInput), files.data_folder())
                                    : read_scenario_source(file, flags.point, files.data_folder());
  io::Json tree = source.tree;
  apply_flags(tree, flags, files, common);
  const study::Scenario scenario = study::replicated(
      load_scenario(tree, files, flags,
                    flags.point.empty() ? study::Leftovers::refuse : study::Leftovers::ignore),
      source.replication);
  begin_work(study::estimated_seconds(scenario) * kReportRuns, flags, common);
  ReportedRun run;
  run.title = title_of(file, scenario, flags);
  run.result = finished_run(scenario, tree, files, flags);
  study::append_each_once(run.result.warnings,
                          study::changed_files(source.files, source.tree, tree, files));
  const double step = study::step_of(run.result.summary);
  if (!flags.change_it() && flags.point.empty()) {
    Recorded recorded = recorded_in(file);
    run.result.defaults = std::move(recorded.defaults).value_or(run.result.defaults);
    if (recorded.corrected_s) {
      run.result.warnings.push_back("the page shows the prediction; corrected by a measured step "
                                    "it is " +
                                    base::readable_seconds(*recorded.corrected_s) + " in " + file);
    }
    constexpr double kRounding = 1e-11;
    if (recorded.step_s && std::abs(*recorded.step_s - step) > kRounding * step) {
      run.result.warnings.push_back(file + " has another iteration time than this run: a file that "
                                           "it names, or stepsim, has changed since");
    }
  }
  run.what_if =
      study::what_if_lines(tree, scenario, step, files,
                           {.parts = run.result.summary.interval_parts,
                            .exceeds_memory = !run.result.summary.memory_fits.value_or(true)});
  if (study::why_no_program(scenario).empty()) {
    const study::ExplainableScenario made = study::explainable(study::deciding(scenario));
    study::Explained explained = study::explained_program(made.file, made.labels);
    explained.bottleneck = run.result.summary.bottleneck;
    explained.source = "scenario";
    explained.step_s = step;
    explained.band = study::band_of(run.result.summary);
    explained.what_if = run.what_if;
    run.sentences = study::sentences_of(explained);
  }
  run.scenario = study::with_names_relative_to(study::scenario_tree(scenario), common.output, tree);
  return run;
}

} // namespace

int report_page(const Invocation& invocation) {
  std::string file;
  std::string date;
  ScenarioFlags flags;
  CLI::App app;
  add_argument(app, "FILE", file,
               "result, scenario, records of a sweep or collectives, or comparison");
  add_value(app, "--date", date, "TEXT",
            "text that the page ends with; without it equal runs give equal pages");
  add_scenario_flags(app, flags);
  Common common(app, kReportText, invocation);
  const std::string footer = footer_of(file, flags, date);
  const std::string text = file == "-" && flags.point.empty() ? io::read_text(file) : "";
  if (holds_records(file, text, flags.point)) {
    refuse_others(common, {"FILE", "--date"}, file + " holds records, which are shown as they are");
    const RecordsPage page =
        records_page(read_plot_rows(text.empty() ? io::read_text(file) : text, file), file,
                     common.output, footer);
    return write_document(common,
                          {.text = [&] { return page.html; }, .tree = [&] { return page.facts; }},
                          Format::html);
  }
  study::Files files(invocation.data_folder, {common.output});
  const ReportedRun run = reported_run(file, text, flags, common, files);
  return write_document(common,
                        {.text = [&] { return result_page(run, footer); },
                         .tree = [&] { return report_facts(run); },
                         .warnings = run.result.warnings},
                        Format::html);
}

} // namespace stepsim::cli
