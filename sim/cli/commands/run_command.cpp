// stepsim run SCENARIO: one scenario, its result and its picture.
// Flags are checked, then the file is read, the work estimated, and only then anything runs. The
// output is written last and in one piece, so that a failed run leaves no file.
#include "cli/commands/commands.hpp"

#include <CLI/CLI.hpp>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "cli/commands/finished_run.hpp"
#include "cli/shell/flag_values.hpp"
#include "cli/text/answer_texts.hpp"
#include "plot/chrome_trace.hpp"
#include "run/result_file.hpp"
#include "run/run.hpp"

namespace stepsim::cli {

namespace {

constexpr std::array kRunFormats{Format::json, Format::jsonl, Format::table};

constexpr CommandText kRunText{
    "run",
    "SCENARIO",
    "Predicts the time of one training iteration, where it goes and what was sent when. A result "
    "is\nrun again by the scenario inside it, a sweep's output point by point.",
    "stepsim run scenario.json\n"
    "stepsim run scenario.json --set /cluster/nodes=64 --set /communication/schedule=mg_wfbp\n"
    "stepsim run scenario.json --json -o result.json --timeline timeline.json.gz\n"
    "stepsim run sweep.jsonl --point 17\n"
    "stepsim run --lines - < scenarios.jsonl > results.jsonl",
    "The scenario file is described in docs/file-formats.md and schemas/scenario.schema.json; a\n"
    "timeline opens in https://ui.perfetto.dev and chrome://tracing.",
    kRunFormats,
};

constexpr const char* kEstimate = "Estimate for a GPU"; // group of flags

// As typed. Nodes and iterations are parsed once the scenario is known, which has their ranges.
struct RunOptions {
  ScenarioFlags flags;
  TimelineFlags timeline;
  std::string replications;
  std::string measured_step;
  std::string measured_total;
  std::vector<std::string> at;
  bool accept_estimate = false;
  bool lines = false;
};

// The flags about estimates are settings like any other.
void add_estimate_settings(RunOptions& options) {
  if (!options.measured_step.empty()) {
    options.flags.set.push_back("/workload/measured_step/step_s=" +
                                base::shortest(quantity("--measured-step", options.measured_step,
                                                        base::QuantityKind::time)));
  }
  if (options.accept_estimate) {
    options.flags.set.emplace_back("/workload/accept_estimate=true");
  }
}

// Numbers but for the rounding of an iteration. A figure that no record has is like any.
bool same_figure(const io::Json& one, const io::Json& other, double iteration_s) {
  if (!one.is_number() || !other.is_number()) {
    return one.is_null() || io::compact(one) == io::compact(other);
  }
  const double apart = std::abs(one.as_double() - other.as_double());
  return apart <= 1e-11 * std::max(std::abs(one.as_double()), iteration_s);
}

// Warns where the record that the sweep has of this point differs: files, or stepsim, have changed
// since. Nothing is compared if flags change the scenario, and the first difference is enough.
void warn_of_other_record(const io::Json& record, const RunOptions& options,
                          study::Result& result) {
  const bool changed = options.flags.change_it() || !options.replications.empty();
  const io::Json* status = record.find("status");
  if (changed || status == nullptr || *status != io::Json("ok")) {
    return;
  }
  for (const auto& [key, value] : study::flat_summary(result.summary)) {
    const io::Json* found = record.find(key);
    if (found != nullptr && !same_figure(*found, value, study::step_of(result.summary))) {
      result.warnings.push_back("point " + options.flags.point + " of " + options.flags.file +
                                " has " + key + " " + io::compact(*found) + ", this run " +
                                io::compact(value) +
                                ": a file that it names, or stepsim, has changed since");
      return;
    }
  }
}

// Gives the values below `value` places in its own table, if they stand where the file has them.
void renew_places(io::Json& value) {
  const auto renew = [&](io::Json& below, auto step, const std::string& token) {
    if (below.file_pointer() == value.file_pointer() &&
        below.pointer() == value.pointer() + "/" + token) {
      below.set_origin_below(value, step, below.line());
      renew_places(below);
    }
  };
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.as_array().size(); ++i) {
      renew(value.as_array()[i], i, std::to_string(i));
    }
  } else if (value.is_object()) {
    for (auto& [key, below] : value.as_object()) {
      renew(below, std::string_view(key), io::escape_token(key));
    }
  }
}

// A tree of many layers takes more memory than the run, which has them in the scenario.
void forget_layers(io::Json& tree) {
  io::Json* layers = io::resolve(tree, "/workload/layers");
  constexpr std::size_t kMany = 1000;
  if (layers != nullptr && layers->is_array() && layers->as_array().size() >= kMany) {
    layers->as_array() = io::Array();
    tree.set_origin(tree.file_pointer(), tree.pointer(), tree.line());
    renew_places(tree);
#ifdef __GLIBC__
    ::malloc_trim(0); // else large lists of the run would get new pages beside what was freed
#endif
  }
}

// A result as JSON with an indent, for results of many layers: neither the tree nor the text is in
// memory.
void write_in_blocks(const Common& common, const study::Result& result, const io::Object& others) {
  common.work.end();
  refuse_other_kind(common, common.output, R"({"kind": "result"})");
  if (!io::is_replaceable(common.output)) { // whoever reads it sees every block
    study::write_result(result, others, [](std::string_view) {});
  }
  const DelayInterrupts delay;
  io::OutputFile file(common.output);
  study::write_result(result, others, [&](std::string_view block) { file.write(block); });
  file.commit();
}

// A file of kind program. What a run of a scenario has beside its times needs a workload.
int run_program(const Invocation& invocation, const io::Json& tree, const RunOptions& options,
                study::Files& files, const Common& common) {
  refuse_others(common,
                {"SCENARIO", "--set", "--method", "--seed", "--conditions", "--max-seconds",
                 kJobGroup, kEstimate, kTimelineGroup},
                "needs a scenario; " + options.flags.file + " is a program");
  const study::ProgramFile file =
      load_program(tree, files, options.flags, kExplanationRuns, common);
  const study::Explained explained = study::explained_program(file);
  if (!options.timeline.file.empty()) {
    const study::TimelineFilter filter =
        parse_filter(options.timeline, "ranks", file.program.ranks, file.evaluation.iterations);
    const study::ProgramRun drawn{
        file.program, programs::evaluate(file.program, file.evaluation, programs::Record::all)};
    write_timeline(options.timeline, common, study::timeline(drawn, filter));
  }
  return write_document(
      common, {.text = [&] { return program_text(explained); },
               .tree = [&] { return with_meta(study::explained_tree(explained), invocation); },
               .warnings = explained.warnings});
}

// What to measure where one of the parts can be measured: the question costs runs of its own, and
// is not asked of a run that takes long.
std::string to_measure(const io::Json& tree, const study::Scenario& scenario,
                       const study::Summary& summary, study::Files& files, double estimate_s) {
  constexpr double kMostSeconds = 1;
  if (summary.interval_parts.empty() || estimate_s > kMostSeconds) {
    return {};
  }
  const std::string_view largest = summary.interval_parts.front().factor;
  if (largest == study::kRestOfInterval || largest == study::kMeanOfInterval) {
    return {};
  }
  const auto next = study::measure_next(tree, scenario, summary, files);
  return next.empty() ? "" : next.front().what;
}

// A measured step tells of the same series: all but the numbers of machines and GPUs is equal.
void require_same_series(const std::vector<std::string>& at) {
  constexpr std::array<std::string_view, 4> kNumbers{"/cluster/nodes", "/cluster/gpus_per_node",
                                                     "/cluster/ranks_per_node", "/cluster/preset"};
  for (const std::string& text : at) {
    const std::size_t end = text.find('=');
    const std::string pointer = text.substr(0, end);
    if (end != std::string::npos && std::ranges::find(kNumbers, pointer) == kNumbers.end()) {
      throw UsageError("--at " + base::printable(pointer) + ": must be " +
                       base::listed(kNumbers, {}, ", ", " or ") +
                       ", because a measured step corrects one that differs in nothing else; give "
                       "it to fit-conditions");
    }
  }
}

// Runs the scenario as it was when its step was measured.
void correct(const RunOptions& options, const io::Json& tree, study::Files& files,
             study::Result& result) {
  const double measured_s = seconds("--measured-total", options.measured_total, io::above(0));
  ScenarioFlags changes;
  changes.set = options.at;
  changes.set_flag = "--at";
  io::Json other = tree;
  apply_flags(other, changes);
  const study::Scenario scenario = load_scenario(other, files, changes, study::Leftovers::ignore);
  const study::Result run = run_scenario(scenario, other, changes);
  result.measured_total = study::corrected_by(result, run, measured_s);
  result.measured_total->at = options.at;
  const auto band = study::band_of(run.summary);
  const double ratio = measured_s / study::step_of(run.summary);
  const auto beyond = [&](double end) { return std::pow(end / study::step_of(run.summary), 2); };
  if (band && (ratio < beyond(band->low) || ratio > beyond(band->high))) {
    result.warnings.push_back("--measured-total: " + base::readable_seconds(measured_s) +
                              " is far from the prediction of that step, " +
                              base::readable_seconds(study::step_of(run.summary), band) +
                              ": another unit, or something that no factor describes");
  }
}

} // namespace

// A scenario written by a user must not have keys without a meaning; the point of a sweep may. Its
// replications repeat its own random stream, so the seed is derived again instead of read.
int run(const Invocation& invocation) {
  RunOptions options;
  CLI::App app;
  add_argument(app, "SCENARIO", options.flags.file,
               "file of kind scenario or program; - = standard input");
  add_scenario_flags(app, options.flags);
  add_must_fit_flag(app, options.flags.must_fit,
                    "exits with 4 if a GPU does not hold the training");
  add_job_flags(app, options.flags);
  add_value(app, "--replications", options.replications, "N",
            "runs with so many seeds; the iteration time is their mean, with its interval");
  app.add_flag("--lines", options.lines,
               "reads JSON Lines, a scenario in each or {\"scenario\": .., \"set\": {POINTER: "
               "VALUE}}, and answers each with its result on one line before it reads the next; "
               "errors are records");
  add_value(app, "--measured-step", options.measured_step, "TIME",
            "scale the times to this step of one GPU, without communication; short for --set "
            "/workload/measured_step/step_s=TIME",
            kEstimate);
  app.add_flag("--accept-estimate", options.accept_estimate,
               "take the estimate of a network without attention; short for --set "
               "/workload/accept_estimate=true")
      ->group(kEstimate);
  add_value(app, "--measured-total", options.measured_total, "TIME",
            "measured step of this scenario, or of the one with the values of --at: the "
            "result says what it corrects");
  add_value(app, "--at", options.at, "POINTER=VALUE",
            "numbers of machines, or of GPUs in a machine, when --measured-total was measured, "
            "e.g. /cluster/nodes=4; repeatable")
      ->allow_extra_args(false);
  add_timeline_flags(app, options.timeline);
  Common common(app, kRunText, invocation);
  check_timeline_flags(options.timeline, common);
  add_estimate_settings(options);
  if (options.measured_total.empty() && !options.at.empty()) {
    throw UsageError("--at needs --measured-total TIME");
  }
  require_same_series(options.at);
  if (options.lines) {
    refuse_others(common,
                  {"SCENARIO", "--lines", "--set", "--method", "--seed", "--conditions",
                   "--max-seconds", "--point", kJobGroup, kEstimate},
                  "goes without --lines");
    return run_lines(invocation, options.flags.file, options.flags, common);
  }
  const Format format = format_of(common, Format::table);
  study::Files files(invocation.data_folder, {common.output, options.timeline.file});
  ScenarioSource source =
      read_scenario_source(options.flags.file, options.flags.point, files.data_folder());
  const io::Json before = source.files.is_null() ? io::Json() : source.tree;
  io::Json tree = std::move(source.tree);
  apply_flags(tree, options.flags, files, common);
  if (study::is_program(tree)) {
    return run_program(invocation, tree, options, files, common);
  }
  const bool written = options.flags.point.empty(); // by a user, key by key
  const study::Scenario scenario = study::replicated(
      load_scenario(tree, files, options.flags,
                    written ? study::Leftovers::refuse : study::Leftovers::ignore),
      source.replication);
  forget_layers(tree);
  const std::int64_t replications =
      optional_count("--replications", options.replications, io::at_least(1)).value_or(1);
  if (replications > 100'000) {
    throw UsageError("--replications " + base::shown_value(options.replications) +
                     ": must be in [1, 100000]");
  }
  const double estimate = study::estimated_seconds(scenario) * static_cast<double>(replications);
  begin_work(estimate, options.flags, common);
  constexpr double kMuchMemory = 1e9;
  if (const double bytes = study::estimated_bytes(scenario); bytes > kMuchMemory) {
    print_note("this takes about " + base::significant(bytes / 1e9, 2) +
                   " GB of memory, because every message is kept",
               common);
  }
  const auto started = std::chrono::steady_clock::now();
  study::Result result = finished_run(scenario, tree, files, options.flags, replications);
  study::append_each_once(result.warnings, study::changed_files(source.files, before, tree, files));
  warn_of_other_record(source.record, options, result);
  if (!options.measured_total.empty()) {
    correct(options, tree, files, result);
  }
  const std::chrono::duration<double> simulation = std::chrono::steady_clock::now() - started;
  if (!options.timeline.file.empty()) {
    write_timeline(
        options.timeline, common,
        study::timeline(result, parse_filter(options.timeline, "nodes", scenario.cluster.nodes,
                                             scenario.training.iterations)));
  }
  if (format != Format::table) {
    io::Object others;
    others.emplace_back("meta", result.packet_hops
                                    ? simulation_meta(invocation, result.events, result.packet_hops,
                                                      simulation.count())
                                    : meta(invocation));
    const bool in_blocks = format != Format::jsonl;
    others.emplace_back("scenario", finished_scenario(result, tree, common.output,
                                                      in_blocks ? study::LayerList::left_out
                                                                : study::LayerList::written));
    if (!in_blocks) {
      io::Json out = study::result_tree(result);
      io::add(out, std::move(others));
      write_output(common, io::compact(out) + "\n");
    } else {
      write_in_blocks(common, result, others);
    }
  } else {
    io::require_finite(study::flat_summary(result.summary));
    write_output(common,
                 run_text(result, to_measure(tree, scenario, result.summary, files, estimate)));
  }
  print_warnings(result.warnings, common);
  return must_fit_code(options.flags.must_fit, result.summary, common);
}

} // namespace stepsim::cli
