// stepsim tune SCENARIO --knob NAME: the curve, the references and the best value of one knob as a
// text or a tree. study/tune_values.hpp decides what is tried.
#include "cli/commands/commands.hpp"

#include <CLI/CLI.hpp>

#include "cli/commands/emit.hpp"
#include "cli/commands/scenario_input.hpp"
#include "cli/shell/entry.hpp"
#include "cli/shell/unit_text.hpp"
#include "cli/text/record_table.hpp"
#include "study/sweep/assumed.hpp"
#include "study/tune.hpp"

namespace stepsim::cli {

namespace {

constexpr CommandText kTuneText{
    "tune",
    "SCENARIO",
    "Finds the value of one knob with the shortest iteration, draws the curve, and says how much\n"
    "the present value, the default and the best possible merge differ from it. With --emit\n"
    "ddp: writes the best bucket sizes for PyTorch's DistributedDataParallel; fsdp: the best\n"
    "sharding units; nccl-tuner: the table that NCCL's example tuner plug-in reads.",
    R"(stepsim tune scenario.json --knob bucket_bytes
stepsim tune scenario.json --set /communication/schedule=horovod --knob fusion_bytes --dry-run
stepsim tune examples/two-layers.scenario.json --knob schedule
stepsim tune resnet.scenario.json --emit ddp -o buckets.json
stepsim tune cluster.scenario.json --emit nccl-tuner --min-gain 5% -o tuner.csv)",
    "The scenario file is described in docs/file-formats.md and schemas/scenario.schema.json.",
};

// As typed. The words are checked before the scenario is read.
struct TuneFlags {
  std::string knob;
  std::string baseline; // "" = not given
  std::string emit;     // "" = not given
  TunerFlags tuner;
  bool dry_run = false;
  ScenarioFlags scenario;
};

// The knobs are listed from their table, below the options.
void add_flags(CLI::App& app, TuneFlags& flags) {
  add_argument(app, "SCENARIO", flags.scenario.file, "file of kind scenario; - = standard input");
  add_value(app, "--knob", flags.knob, "NAME", "one of those below");
  add_value(app, "--baseline", flags.baseline, "WORD",
            "of density: dense training that exchanges after backward (sequential, the "
            "default) or behind it (overlapped: /communication/compression/baseline)");
  add_value(app, "--emit", flags.emit, "WORD",
            "in place of a knob: ddp, bucket sizes for PyTorch; fsdp, its sharding units; "
            "nccl-tuner, a table of algorithms and protocols by size");
  add_tuner_flags(app, flags.tuner);
  app.add_flag("--dry-run", flags.dry_run, "only lists the values and how long they may take");
  add_scenario_flags(app, flags.scenario);
  app.footer(help_list("Knobs", named(study::knobs())));
}

// In the unit of the knob; words as they are, "-" for a reference that has no such knob.
std::string knob_text(const study::TuneProblem& problem, const io::Json& value) {
  if (value.is_null()) {
    return "-";
  }
  const std::string_view name = study::row(problem.knob).name;
  if (problem.knob == study::Knob::bucket_bytes || problem.knob == study::Knob::fusion_bytes) {
    return base::readable_size(value.as_integer());
  }
  return value.is_number() ? value_text(name, value.as_double()) : io::Json(value).as_string();
}

// At most 16 points of the curve at equal distances, with both ends, and the best one in any case.
std::vector<const study::TunePoint*> shown_points(const study::Tuning& tuning) {
  constexpr std::size_t kMostCurveRows = 16;
  const std::size_t count = tuning.curve.size();
  const std::size_t rows = std::min(count, kMostCurveRows);
  std::vector<const study::TunePoint*> shown;
  std::vector<bool> chosen(count, count <= kMostCurveRows);
  for (std::size_t r = 0; r < rows; ++r) {
    chosen[rows < 2 ? 0 : r * (count - 1) / (rows - 1)] = true;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_best = tuning.best && tuning.curve[i].value == tuning.best->value;
    if (chosen[i] || is_best) {
      shown.push_back(&tuning.curve[i]);
    }
  }
  return shown;
}

// All knobs show time and efficiency; density also what it is compared with.
std::vector<Column> columns_of(study::Knob knob, bool has_band) {
  std::vector<Column> columns;
  const auto add = [&](const std::string& key, Column::Show show = nullptr) {
    const ColumnUnit unit = column_unit(key);
    columns.push_back({key, unit.heading, unit.factor, show});
  };
  add(std::string(study::kIterationTime));
  if (has_band) {
    columns.push_back({"interval_level", "interval [ms]", 1e3, band_cell});
  }
  add("exposed_communication_s");
  add("scaling_efficiency");
  if (knob == study::Knob::density) {
    add("k", in_full);
    add("speedup_vs_dense_sequential");
    add("speedup_vs_dense_overlapped");
  }
  return columns;
}

// k is a count of entries and is written out in full: six digits would merge neighbours.
std::string curve_text(const study::TuneProblem& problem, const study::Tuning& tuning) {
  const std::vector<Column> columns =
      columns_of(problem.knob, std::ranges::any_of(tuning.curve, [](const study::TunePoint& point) {
                   return study::band_in(point.record).has_value();
                 }));
  const std::vector<const study::TunePoint*> shown = shown_points(tuning);
  using Point = const study::TunePoint*;
  Table table;
  add_value_column(table, study::row(problem.knob).name,
                   base::collected<io::Json>(shown, &study::TunePoint::value));
  for (const Column& column : columns) {
    add_column(table, column.heading, shown,
               [&](Point point) { return cell_of(point->record, column); });
  }
  if (problem.knob == study::Knob::pipeline_width) {
    add_column(table, "staleness", shown,
               [](Point point) { return std::to_string(point->value.as_integer() - 1); });
  }
  add_column(table, "", shown, [&](Point point) {
    const bool is_best = tuning.best && point->value == tuning.best->value;
    return !point->error.empty() ? "error: " + point->error : is_best ? "best" : "";
  });
  const std::size_t count = tuning.curve.size();
  return table_text(table) +
         (shown.size() < count ? fmt::format("{} of {} values\n", shown.size(), count) : "");
}

// How much longer an iteration of each reference takes than one of the best value [%]. For the knob
// density also up to which k the sparse exchange is as fast as the reference.
std::string references_text(const study::TuneProblem& problem, const study::Tuning& tuning) {
  Table table{
      {"reference", std::string(study::row(problem.knob).name), "iteration [ms]", "longer by [%]"},
      {}};
  const bool density = problem.knob == study::Knob::density;
  if (density) {
    table.headings.emplace_back("as fast with k up to");
  }
  for (const study::TuneReference& reference : tuning.references) {
    std::vector<std::string>& row = table.rows.emplace_back();
    const auto band = study::band_in(reference.point.record);
    row = {reference.name == study::kBestMerge ? std::string("best merge, one message at a time")
                                               : reference.name,
           knob_text(problem, reference.point.value),
           milliseconds_cell(reference.point.iteration_time_s) +
               (band ? " " + base::readable_band(*band, 1e3) : ""),
           cell(reference.regret, 100)};
    if (density) {
      row.push_back(reference.largest_k ? std::to_string(*reference.largest_k) : "-");
    }
  }
  return table_text(table);
}

// The last part of the sentence says how sure the value is: no better one exists, or how much the
// values tried next to it differ.
std::string best_text(const study::TuneProblem& problem, const study::Tuning& tuning) {
  const std::string name(study::row(problem.knob).name);
  if (!tuning.best) {
    return "no " + name + " is as fast as dense\n";
  }
  const double step_s = tuning.best->step_s();
  const auto band = study::band_in(tuning.best->record);
  std::string text =
      "best " + name + " " + knob_text(problem, tuning.best->value) + ": " +
      (band ? base::readable_seconds(step_s, band) : value_text(study::kIterationTime, step_s)) +
      " per iteration";
  if (problem.knob == study::Knob::pipeline_width) {
    text += "; the smallest within " + base::significant(tuning.tolerance * 100, 2) +
            " % of the widest";
  } else if (problem.knob == study::Knob::density) {
    text += "; the largest that is as fast as dense";
  } else if (tuning.near_default) {
    text += "; nearest the default within 1 % of the shortest";
  } else {
    text += tuning.exact ? "; no other value is better"
                         : "; values tried next to it differ by " +
                               base::significant(tuning.tolerance * 100, 2) + " %";
  }
  text += "\n";
  if (tuning.gain && base::comparable(1 + tuning.gain->value) < 1) {
    text += "leave it: the scenario as it is takes " +
            percent_cell(1 - 1 / (1 - tuning.gain->value)) + " less\n";
  }
  if (tuning.gain && tuning.gain->value > 0) {
    std::string gain = percent_cell(tuning.gain->value);
    const std::string error = percent_cell(tuning.gain->published_error);
    if (const auto& range = tuning.gain->range) {
      gain += " (" + percent_cell(range->first) + " to " + percent_cell(range->second) + ", 80 %)";
    }
    text += tuning.gain->range
                ? (tuning.worth_it() ? "a gain of " + gain
                                     : "leave it: the gain of " + gain + " may be none") +
                      "\n"
            : tuning.worth_it()
                ? "a gain of " + gain + ", above the published error of such steps, " + error + "\n"
                : "leave it: the gain of " + gain +
                      " is below the published error of such steps, " + error + "\n";
  }
  if (tuning.range) {
    text += "from half to twice the latency: " + knob_text(problem, tuning.range->first) + " to " +
            knob_text(problem, tuning.range->second) + "\n";
  }
  return text;
}

// The estimate times a few values of the same sweep that would run, with the same number of
// threads.
int dry_run(const study::TuneProblem& problem, const study::TuneValues& values, study::Files& files,
            const study::SweepOptions& options, const Common& common) {
  const study::KnobRow& row = study::row(problem.knob);
  constexpr std::size_t kMost = 40;
  std::string text = std::to_string(values.values.size()) + " values of " + row.pointer() +
                     (problem.knob == study::Knob::density ? ", then bisection"
                      : values.refinements > 0             ? ", then some around the best"
                                                           : "") +
                     ": ";
  const auto value_text_of = [&](const io::Json& value) { return knob_text(problem, value); };
  text += base::listed(std::span(values.values).first(std::min(kMost, values.values.size())),
                       value_text_of);
  text += values.values.size() > kMost ? ", ... " + knob_text(problem, values.values.back()) + "\n"
                                       : "\n";
  const study::Sweep sweep = study::sweep_over(values.scenario, {{row.pointer(), values.values}});
  text += "about " + value_text("time_s", study::estimate(sweep, files, options).seconds) +
          ", from timing three values\n";
  const io::Json tree(io::Object{{"knob", row.name},
                                 {"pointer", row.pointer()},
                                 {"values", io::Array(values.values.begin(), values.values.end())},
                                 {"exact", values.exact}});
  return write_document(common, {.text = [&] { return text; }, .tree = [&] { return tree; }});
}

void require_one_of(const TuneFlags& flags) {
  if (flags.emit.empty() && flags.knob.empty()) {
    throw UsageError("--knob is required; see stepsim tune --help");
  }
  if (flags.emit != "nccl-tuner" && any_given(flags.tuner)) {
    throw UsageError("--from, --min-gain and --max-bytes need --emit nccl-tuner");
  }
  if (flags.emit.empty()) {
    return;
  }
  require_word("--emit", flags.emit, {"ddp", "fsdp", "nccl-tuner"});
  if (!flags.knob.empty() || !flags.baseline.empty() || flags.dry_run) {
    throw UsageError("--emit excludes --knob, --baseline and --dry-run");
  }
}

int emit(const TuneFlags& flags, study::Files& files, const Common& common) {
  const io::Json tree = read_scenario_tree(flags.scenario, files, common);
  const study::Scenario scenario = load_scenario(tree, files, flags.scenario);
  if (flags.emit == "ddp") {
    return emit_ddp(tree, files, sweep_options(flags.scenario, common), common);
  }
  return flags.emit == "fsdp" ? emit_fsdp(scenario, tree, common)
                              : emit_nccl_tuner(scenario, flags.tuner, common);
}

} // namespace

// Notes tell what was changed in the scenario to make the knob count; they are printed before the
// runs start.
int tune(const Invocation& invocation) {
  TuneFlags flags;
  CLI::App app;
  add_flags(app, flags);
  Common common(app, kTuneText, invocation);
  require_one_of(flags);
  study::Files files(invocation.data_folder, {common.output});
  if (!flags.emit.empty()) {
    return emit(flags, files, common);
  }
  study::TuneProblem problem;
  problem.knob = study::parse_knob(flags.knob);
  if (!flags.baseline.empty()) {
    require_word("--baseline", flags.baseline, {"sequential", "overlapped"});
    if (problem.knob != study::Knob::density) {
      throw UsageError("--baseline: has no meaning for --knob " + flags.knob +
                       ", only for density");
    }
  }
  problem.baseline = flags.baseline == "overlapped" ? programs::DenseBaseline::overlapped
                                                    : programs::DenseBaseline::sequential;
  problem.scenario = read_scenario_tree(flags.scenario, files, common);
  const study::TuneValues values = study::tune_values(problem, files);
  print_notes(values.notes, common);
  const study::SweepOptions options = sweep_options(flags.scenario, common);
  if (flags.dry_run) {
    return dry_run(problem, values, files, options, common);
  }
  const study::Tuning tuning = study::tune(problem, values, files, options);
  const io::Json tree = study::tuning_tree(problem, tuning);
  require_finite(tree);
  // The answer first, then what it is compared with, then the curve. The references have other keys
  // than the points of the curve and are in JSON only.
  write_document(common, {.text =
                              [&] {
                                return best_text(problem, tuning) + "\n" +
                                       references_text(problem, tuning) + "\n" +
                                       curve_text(problem, tuning);
                              },
                          .tree = [&] { return tree; },
                          .records = [&] { return tree.find("curve")->as_array(); },
                          .warnings = tuning.warnings});
  std::vector<study::Axis> axes; // the knob itself is no assumption
  if (!values.values.empty()) {
    axes.push_back({study::row(problem.knob).pointer(), values.values});
  }
  if (const std::string text =
          study::assumed_text(study::sweep_over(values.scenario, std::move(axes)), files);
      !text.empty()) {
    print_note("assumed: " + text, common);
  }
  if (!tuning.best) {
    return report_error("no density is as fast as dense training", kTargetNotMet, common.color);
  }
  return kOk;
}

} // namespace stepsim::cli
