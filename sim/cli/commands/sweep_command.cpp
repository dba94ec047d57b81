// stepsim sweep SWEEP -o FILE: every point of a grid, split, resumed and merged at will (IO 14).
// Two kinds of output: records to a file, written as points finish and resumable, and a table on
// the terminal, which needs all rows at once and is therefore limited in number.
#include "cli/commands/commands.hpp"

#include "study/sweep/assumed.hpp"
#include "study/sweep/rows.hpp"

#include <CLI/CLI.hpp>

#include <cstdlib>

#include "cli/collective/collective_flags.hpp"
#include "cli/commands/scenario_input.hpp"
#include "cli/shell/entry.hpp"
#include "cli/shell/flag_values.hpp"
#include "cli/text/record_table.hpp"

namespace stepsim::cli {

namespace {

constexpr CommandText kSweepText = choosing_columns({
    "sweep",
    "SWEEP | SCENARIO --over POINTER=VALUES",
    "Runs every point of a grid of scenario values. Writes one record per point to -o, JSON Lines\n"
    "(.jsonl) or CSV (.csv), in an order and with a content that do not depend on --jobs, --shard\n"
    "or --resume; without -o, prints a table, whose best row is the shortest iteration or, where\n"
    "the number of workers varies, the one with the most samples per second.",
    "stepsim sweep sweep.json -o results/out.jsonl --jobs 8\n"
    "stepsim sweep scenario.json --over /cluster/nodes=16:512:x2 -o nodes.csv\n"
    "stepsim sweep sweep.json -o out.jsonl --shard 0/4 --resume\n"
    "stepsim merge out.shard-*-of-4.jsonl -o out.jsonl",
    "The sweep file is described in docs/file-formats.md and schemas/sweep.schema.json; job "
    "arrays,\n"
    "GNU parallel and mpirun in examples/README.md.",
    kTableFormats,
});

struct SweepFlags {
  ScenarioFlags scenario;
  std::string jobs;
  std::string shard;
  bool resume = false;
  bool force = false;
  bool dry_run = false;
};

// A longer table helps nobody, and its rows are kept in memory.
constexpr std::int64_t kMostTableRows = 10'000; // of a table

// The grid from a sweep file, or from a scenario and --over. A sweep file is complete in itself:
// flags that change a scenario are refused next to it, because its hash would not show them.
study::Sweep read_sweep(const ScenarioFlags& flags, study::Files& files, const Common& common) {
  if (!flags.over.empty()) {
    const io::Json tree = read_scenario_tree(flags, files, common);
    if (study::is_sweep(tree)) {
      throw UsageError("--over goes with a scenario; " + flags.file +
                       " is a sweep and has its own axes");
    }
    return study::sweep_over(tree, parse_over_flags(flags));
  }
  const io::Json tree = io::read_json(flags.file);
  const io::Json* kind = tree.find("kind");
  if (kind != nullptr && (*kind == io::Json("scenario") || *kind == io::Json("collective"))) {
    throw UsageError(flags.file + " is a " + kind->as_string() +
                     ": give --over POINTER=VALUES, or a sweep file");
  }
  refuse_others(common, {"SWEEP", "--max-seconds", "--must-fit", "Work"},
                "goes with a scenario and --over; " + flags.file + " is a sweep");
  return study::parse_sweep(tree);
}

// How the timed points were evaluated.
std::string path_word(const study::SweepEstimate& estimate) {
  const std::array<std::pair<std::int64_t, std::string_view>, 3> ways{
      {{estimate.by_formula, "one formula for many points"},
       {estimate.sharing, "one run per point, with a workload that is read once"},
       {estimate.timed - estimate.by_formula - estimate.sharing,
        "one run per point, with a scenario that is read anew"}}};
  std::string text;
  for (const auto& [points, way] : ways) {
    if (points > 0) {
      text += (text.empty() ? "" : "; ") + std::string(way);
      text += points < estimate.timed ? fmt::format(" ({} of {} that were timed)", points,
                                                    base::counted(estimate.timed, "point"))
                                      : "";
    }
  }
  return text.empty() ? "no point was timed" : text;
}

// Parses and times three points, but writes no record. The points of this shard alone are counted
// for the estimate.
int dry_run(const study::Sweep& sweep, study::Files& files, const study::SweepOptions& options,
            const Common& common) {
  const std::int64_t total = sweep.grid.points();
  const std::int64_t points = options.shard.points(total);
  const study::SweepEstimate estimate = study::estimate(sweep, files, options);
  const auto tree = [&] {
    auto axes = base::collected<io::Json>(sweep.grid.axes, [](const study::Axis& axis) {
      return io::Object{{"field", axis.pointer}, {"values", axis.values}};
    });
    return io::Object{{"points_total", total},
                      {"points", points},
                      {"replications", sweep.grid.replications},
                      {"axes", std::move(axes)},
                      {"jobs", options.jobs},
                      {"path", path_word(estimate)},
                      {"estimated_s", estimate.seconds}};
  };
  std::string text = base::counted(total, "point");
  if (options.shard.count > 1) {
    text += ", " + std::to_string(points) + " of them in shard " +
            std::to_string(options.shard.index) + "/" + std::to_string(options.shard.count);
  }
  text += '\n';
  for (const study::Axis& axis : sweep.grid.axes) {
    text += "  " + axis.pointer + ": " + base::counted(std::ssize(axis.values), "value") + ", " +
            io::compact(axis.values.front()) +
            (axis.values.size() > 1 ? " .. " + io::compact(axis.values.back()) : "") + "\n";
  }
  if (sweep.grid.replications > 1) {
    text += "  " + std::to_string(sweep.grid.replications) + " replications\n";
  }
  // Whole minutes from one minute on: an estimate from three points is not worth its seconds.
  text += "about " +
          (estimate.seconds < 60
               ? base::readable_seconds(estimate.seconds)
               : std::to_string(static_cast<std::int64_t>(estimate.seconds / 60)) + " min") +
          " with " + base::counted(options.jobs, "thread") + ", from timing three points\n";
  text += "path: " + path_word(estimate) + "\n";
  return write_document(common, {.text = [&] { return text; }, .tree = tree});
}

// Each warning once, with the number of points that have it: a sweep would otherwise repeat it for
// every point.
void print_report(const study::SweepReport& report, const Common& common) {
  std::vector<std::string> warnings;
  for (const auto& [text, points] : report.warnings) {
    warnings.push_back(text + " (" + base::counted(points, "point") + ")");
  }
  if (report.missing_threads > 0) {
    warnings.push_back(base::counted(static_cast<std::int64_t>(report.missing_threads), "thread") +
                       " of --jobs could not be started: the sweep ran with fewer");
  }
  print_warnings(warnings, common);
}

// The exit code, or the exception that makes it. An interruption counts first: points that were not
// run are no failures.
int finish(const study::SweepReport& report, bool must_fit, const Common& common) {
  if (report.interrupted) {
    return kInterrupted;
  }
  if (report.failed > 0) {
    throw SimulationError(std::to_string(report.failed) + " of " +
                          base::counted(report.points, "point") + " failed" +
                          (report.first_error.empty() ? "" : ", first: " + report.first_error));
  }
  const bool none_ran = report.points == report.resumed;
  return must_fit_code(must_fit, report.fitting > 0 || none_ran, report.judged > 0 || none_ran,
                       common);
}

// All rows at once, for people. The sweep runs into a text of JSON Lines like any other and the
// table is made from these, so that it shows what a file would hold. The first line is the header
// record.
int print_table(const study::Sweep& sweep, study::Files& files, study::SweepOptions options,
                bool must_fit, const Common& common) {
  const std::int64_t points = options.shard.points(sweep.grid.points());
  if (points > kMostTableRows) {
    throw UsageError("a table of " + std::to_string(points) +
                     " points is of no use: give -o FILE.jsonl or -o FILE.csv");
  }
  options.format = study::RecordFormat::jsonl;
  options.columns.clear();
  options.progress = counting(common);
  std::string text;
  const study::SweepReport report = study::run_sweep(sweep, files, options, text);
  const io::Array rows = study::records_of(text);
  print_report(report, common);
  const bool collectives = study::is_collective(sweep.base);
  if (collectives && !common.columns.empty()) {
    throw UsageError("--columns goes with a table of scenarios; of collectives, with -o FILE.csv "
                     "or -o FILE.jsonl");
  }
  const auto batches = base::collected<std::int64_t>(
      rows, [&](const io::Json& row) { return study::batches_of_row(sweep, row); });
  const auto tables = [&] {
    if (collectives) {
      CollectiveTable table(sweep);
      for (const io::Json& row : rows) {
        table.add(row.find("point")->as_integer(), row);
      }
      return std::vector{table.finished()};
    }
    study::Ranking ranking = study::rank_rows(rows, batches);
    if (sweep.grid.replications > 1) { // no draw is a choice
      ranking.best.reset();
      ranking.standings.clear();
    }
    io::Array shown = rows;
    for (std::size_t i = 0; i < ranking.standings.size(); ++i) {
      study::set_standing(ranking.standings[i], shown[i]);
    }
    return record_tables({shown, sweep.varied(), ranking, batches, common.columns});
  };
  write_document(common, {.tables = tables, .records = [&] { return rows; }});
  return finish(report, must_fit, common);
}

// The normal way: records go to the file while the sweep runs, and memory does not grow with the
// number of points.
int write_records(const study::Sweep& sweep, study::Files& files, study::SweepOptions options,
                  Format format, bool must_fit, const Common& common) {
  options.format = format == Format::csv ? study::RecordFormat::csv : study::RecordFormat::jsonl;
  options.progress = counting(common);
  const study::SweepReport report = study::run_sweep(sweep, files, options);
  common.work.end();
  print_report(report, common);
  if (options.output != "-" && report.interrupted) {
    print_note(options.output +
                   ": interrupted, finished points are written; continue with --resume",
               common);
  } else if (options.output != "-") {
    const std::string before =
        report.resumed > 0 ? ", " + std::to_string(report.resumed) + " of them from before" : "";
    print_note(options.output + ": " + base::counted(report.points, "point") + before, common);
  }
  return finish(report, must_fit, common);
}

// --resume and --force decide about an existing output. Without both an existing file is an error,
// because a sweep may have taken days.
void add_flags(CLI::App& app, SweepFlags& flags) {
  add_argument(app, "SWEEP", flags.scenario.file,
               "file of kind sweep, or scenario or collective with --over");
  add_over_flag(app, flags.scenario);
  add_scenario_flags(app, flags.scenario);
  add_job_flags(app, flags.scenario);
  add_must_fit_flag(app, flags.scenario.must_fit,
                    "exits with 4 if no point that was run fits into the memory of its GPU");
  app.option_defaults()->group("Work");
  add_value(app, "--jobs", flags.jobs, "N", "threads; default the number of cores");
  add_value(app, "--shard", flags.shard, "i/n|auto",
            "points k with k mod n = i only; auto reads the variables of Slurm arrays and MPI "
            "launchers. The name of -o gets .shard-i-of-n, or the place {shard} in it is filled");
  app.add_flag("--resume", flags.resume,
               "continues an unfinished -o; failed points are tried again");
  app.add_flag("--force", flags.force, "overwrites an existing -o");
  app.add_flag("--dry-run", flags.dry_run,
               "only says how many points there are and how long they may take");
}

} // namespace

// The file that is compared with the inputs is the shard's own, since its name differs from -o.
// Ctrl-C is caught only once points are running: before, there is nothing to keep.
int sweep(const Invocation& invocation) {
  SweepFlags flags;
  CLI::App app;
  add_flags(app, flags);
  Common common(app, kSweepText, invocation);
  if (flags.resume && flags.force) {
    throw UsageError("--resume and --force exclude each other");
  }
  if (flags.resume && common.output == "-") {
    throw UsageError("--resume continues a file: give -o FILE.jsonl or -o FILE.csv");
  }
  study::SweepOptions options;
  options.jobs = static_cast<int>( // more threads than cores are allowed
      optional_count("--jobs", flags.jobs, io::between(1, 4096)).value_or(default_jobs()));
  options.if_exists = flags.resume  ? study::IfExists::resume
                      : flags.force ? study::IfExists::overwrite
                                    : study::IfExists::refuse;
  if (flags.shard == "auto") {
    options.shard = study::shard_from_environment(std::getenv);
  } else if (!flags.shard.empty()) {
    options.shard = study::parse_shard(flags.shard);
  }
  options.output = study::shard_file_name(common.output, options.shard);
  options.columns = common.columns;
  options.tool = "stepsim " + std::string(version());
  options.interrupted = interrupted;
  options.max_seconds = max_seconds(flags.scenario);
  const bool to_file = common.output != "-";
  const Format format = format_of(common, to_file ? Format::jsonl : Format::table);
  if (to_file && format == Format::json && common.output.ends_with(".json")) {
    throw UsageError("-o " + common.output + ": a sweep writes JSON Lines (.jsonl) or CSV (.csv)");
  }
  study::Files files(invocation.data_folder, {options.output});
  const study::Sweep sweep = read_sweep(flags.scenario, files, common);
  if (io::same_file(std::string(sweep.base.file()), options.output)) {
    throw UsageError("-o " + base::shown_value(options.output, 200) +
                     ": is an input too; a result does not replace what it was made from");
  }
  return of_flags(sweep.base, flags.scenario, [&] {
    study::require_effect(sweep, files);
    if (flags.dry_run) {
      return dry_run(sweep, files, options, common);
    }
    catch_interrupts();
    common.work.estimate(
        study::expected_seconds(sweep, files, options.shard.points(sweep.grid.points())) /
        options.jobs);
    const bool as_table =
        format == Format::table || format == Format::html || format == Format::markdown;
    const bool must_fit = flags.scenario.must_fit;
    const int code = as_table ? print_table(sweep, files, options, must_fit, common)
                              : write_records(sweep, files, options, format, must_fit, common);
    print_notes(study::notes_of(sweep, files), common);
    return code;
  });
}

} // namespace stepsim::cli
