// stepsim compare SCENARIO --over POINTER=V1,V2,...: alternatives side by side, best first.
// Without --algorithms the rows are those of a sweep; with it every row is a scenario changed by an
// alternative (study/alternatives.hpp), and what an alternative sets must not be varied by hand.
#include "cli/commands/commands.hpp"

#include "study/alternatives.hpp"

#include <CLI/CLI.hpp>

#include "cli/commands/scenario_input.hpp"
#include "cli/text/record_table.hpp"
#include "scenario/files/import_source.hpp"
#include "study/breakeven_file.hpp"
#include "study/sweep/assumed.hpp"

namespace stepsim::cli {

namespace {

constexpr CommandText kCompareText = choosing_columns({
    "compare",
    "SCENARIO",
    R"(Runs every combination of the given values and lists them, the shortest iteration first, with
the ratio to it. Where the number of workers varies the rows stay in order, and the most samples,
or tokens where their length varies, per second are the best.)",
    "stepsim compare scenario.json --over /communication/schedule=wfbp,single,ddp,mg_wfbp,optimal\n"
    "stepsim compare scenario.json --over /cluster/network/bandwidth_Bps=1,10,40,100Gbps"
    " --over /cluster/nodes=8,64\n"
    "stepsim compare scenario.json --algorithms all --over "
    "/cluster/network/bandwidth_Bps=1,10,100Gbps\n"
    "stepsim compare scenario.json --algorithms ddp,topk --rows mine.json\n"
    "stepsim compare examples/breakeven.json --break-even",
    "The scenario file is described in docs/file-formats.md and schemas/scenario.schema.json.",
    kTableFormats,
});

// `best`: the index of the best row, null if all failed, and what made it so. With --algorithms the
// rows are sorted within each combination, so there is no single best one and the key is absent.
io::Object tree_of(const study::Comparison& comparison, bool algorithms,
                   const std::vector<std::string>& notes) {
  const study::Ranking& ranking = comparison.ranking;
  io::Object tree{{"best_by", study::kBestBy[ranking.by]},
                  {"rows", comparison.rows},
                  {"notes", io::list_of(notes)},
                  {"warnings", io::list_of(comparison.warnings)}};
  if (!algorithms) {
    tree.emplace_back("best", ranking.best ? io::Json(*ranking.best) : io::Json());
  }
  if (!algorithms && !ranking.standings.empty()) {
    io::Array set;
    for (std::size_t i = 0; i < ranking.standings.size(); ++i) {
      if (ranking.standings[i].rank == 1) {
        set.emplace_back(static_cast<std::int64_t>(i));
      }
    }
    tree.emplace_back("best_set", std::move(set));
  }
  return tree;
}

// Rows that failed are shown with their error like all others; only the exit code tells of them.
// Rows are written first, because those that did not fail are the answer to the rest of the
// question. What was finished before an interruption is shown.
int show(const study::Comparison& comparison, const Common& common, bool algorithms, bool must_fit,
         const std::vector<std::string>& notes = {}) {
  if (comparison.rows.empty()) {
    print_warnings(comparison.warnings, common);
  } else {
    const auto tables = [&] {
      return algorithms ? algorithm_tables(comparison.rows, comparison.varied, common.columns)
                        : record_tables({comparison.rows, comparison.varied, comparison.ranking,
                                         comparison.batches, common.columns});
    };
    std::vector<std::string> kept = comparison.varied;
    kept.insert(kept.end(), {"algorithm", "error"});
    write_document(common, {.tables = tables,
                            .tree = [&] { return tree_of(comparison, algorithms, notes); },
                            .records = [&] { return comparison.rows; },
                            .kept = std::move(kept),
                            .warnings = comparison.warnings,
                            .notes = notes});
  }
  if (comparison.missing > 0) {
    print_note("interrupted: " + std::to_string(comparison.missing) + " combinations were not run",
               common);
    return kInterrupted;
  }
  if (comparison.failed > 0) {
    throw SimulationError(std::to_string(comparison.failed) + " of " +
                          std::to_string(comparison.rows.size()) + " combinations failed");
  }
  const auto knows = [](const io::Json& row) {
    return study::number_in(row, "memory_capacity_bytes").has_value();
  };
  return must_fit_code(must_fit, !std::ranges::all_of(comparison.rows, study::exceeds_memory),
                       std::ranges::any_of(comparison.rows, knows), common);
}

// The tables of columns and alternatives are printed as they are used, so help names every one.
std::string algorithms_help() {
  const auto algorithms = base::collected<Candidate>(study::alternatives(), [](const auto& each) {
    return Candidate{std::string(each.name),
                     std::string(each.summary) + ": " + study::changes_text(each)};
  });
  return help_list("Columns of --algorithms", algorithm_columns()) + "\n" +
         help_list("Algorithms, and the keys of /communication (or with their whole pointer) that "
                   "they set",
                   algorithms) +
         "\nWhat an algorithm sets cannot be set by --set or --over. Where the scenario gives no "
         "density the\nsparse ones take 0.001, where it gives no rank powersgd takes 4.\n";
}

// What --algorithms, --rows and --break-even say.
struct AlgorithmFlags {
  std::vector<std::string> names;
  std::vector<std::string> rows; // files
  bool break_even = false;
  [[nodiscard]] bool given() const { return !names.empty() || !rows.empty() || break_even; }
};

// The scenarios of --rows, called by their names; without --algorithms SCENARIO is the first of
// them. Two of one name go by their files.
std::vector<study::NamedScenario> named_rows(const io::Json& scenario, const AlgorithmFlags& flags,
                                             ScenarioFlags of_row, study::Files& files,
                                             const Common& common) {
  std::vector<std::string> rows = flags.rows;
  if (flags.names.empty()) {
    rows.insert(rows.begin(), of_row.file);
  }
  std::vector<study::NamedScenario> named;
  for (const std::string& row : rows) {
    const bool is_first = flags.names.empty() && named.empty();
    of_row.file = row;
    io::Json tree = is_first ? scenario : read_scenario_tree(of_row, files, common);
    std::string called = tree.text("name");
    called = called.empty() ? io::stem_of(row) : called;
    if (std::ranges::find(named, called, &study::NamedScenario::name) != named.end()) {
      called = row;
    }
    named.push_back({std::move(called), std::move(tree)});
  }
  return named;
}

constexpr std::string_view kBreakEvenKind = "compression_breakeven";

// Runs every chosen alternative at every combination of --over. --set is parsed a second time here:
// the scenario has its values already, but only the pairs show whether a value given by hand
// contradicts what a chosen alternative sets.
int compare_algorithms(const Common& common, const AlgorithmFlags& flags,
                       const ScenarioFlags& scenario_flags, study::Files& files) {
  const bool alone = flags.names.empty() && flags.rows.empty() && scenario_flags.over.empty();
  const io::Json scenario = read_scenario_tree(scenario_flags, files, common);
  const io::Json* kind = scenario.find("kind");
  if (alone && kind != nullptr && *kind == io::Json(kBreakEvenKind)) {
    refuse_others(common, {"SCENARIO", "--break-even", "--set"},
                  "has no meaning for a file of kind " + kind->as_string());
    const study::Comparison found = study::breakeven_rows(study::parse_breakeven(scenario, files));
    return show(found, common, true, false);
  }
  const std::vector<study::NamedScenario> rows =
      named_rows(scenario, flags, scenario_flags, files, common);
  const std::vector<study::Alternative> chosen = study::find_alternatives(flags.names);
  const std::vector<study::Axis> axes = parse_over_flags(scenario_flags);
  const auto set =
      base::collected<std::pair<std::string, io::Json>>(scenario_flags.set, study::parse_set);
  study::refuse_contradictions(chosen, set, axes);
  const study::Sweep base = study::sweep_over(scenario, axes); // what alternatives change
  common.work.estimate(
      study::expected_seconds(base, files,
                              base.grid.points() * (std::ssize(chosen) + std::ssize(rows))) /
      default_jobs());
  return of_flags(scenario, scenario_flags, [&] {
    return show(study::compare_alternatives(scenario, axes, chosen, rows, files,
                                            sweep_options(scenario_flags, common),
                                            flags.break_even),
                common, true, scenario_flags.must_fit);
  });
}

} // namespace

// More rows than a table can hold are refused; a sweep writes them to a file.
int compare(const Invocation& invocation) {
  AlgorithmFlags algorithms;
  std::string best;
  ScenarioFlags flags;
  CLI::App app;
  add_argument(app, "SCENARIO", flags.file, "file of kind scenario; - = standard input");
  add_over_flag(app, flags);
  add_value(app, "--algorithms", algorithms.names, "LIST",
            "ways of exchanging gradients, each a set of changes to the scenario: all, or some "
            "of those below")
      ->delimiter(',');
  add_value(app, "--rows", algorithms.rows, "FILE,...",
            "further rows: scenarios of their own, with --set and --over as SCENARIO; a row "
            "goes by the name in its file")
      ->delimiter(',');
  app.add_flag("--break-even", algorithms.break_even,
               "also finds the bandwidths between 10 Mb/s and 10 Tb/s at which each compression is "
               "faster than dense training that overlaps with backward; SCENARIO may be a file of "
               "kind compression_breakeven");
  add_value(app, "--best", best, "WORD",
            "what makes a row the best: iteration_time, throughput or efficiency; default "
            "iteration_time, where the number of workers varies throughput");
  add_scenario_flags(app, flags);
  add_must_fit_flag(app, flags.must_fit, "exits with 4 if no row fits into the memory of its GPU");
  add_job_flags(app, flags);
  app.footer(algorithms_help());
  Common common(app, kCompareText, invocation);
  if (!algorithms.given() && flags.over.empty()) {
    throw UsageError("give --over, --algorithms, --rows or --break-even");
  }
  if (!best.empty() && algorithms.given()) {
    throw UsageError("--best goes with --over alone; --algorithms lists by iteration time");
  }
  std::optional<study::BestBy> best_by;
  read_word("--best", best, study::kBestBy, best_by);
  study::Files files(invocation.data_folder, {common.output});
  if (algorithms.given()) {
    return compare_algorithms(common, algorithms, flags, files);
  }
  const study::Sweep sweep =
      study::sweep_over(read_scenario_tree(flags, files, common), parse_over_flags(flags));
  constexpr std::int64_t kMostRows = 100'000;
  if (sweep.grid.points() > kMostRows) {
    throw UsageError("--over: " + std::to_string(sweep.grid.points()) +
                     " combinations are too many to compare; use stepsim sweep");
  }
  catch_interrupts();
  common.work.estimate(study::expected_seconds(sweep, files, sweep.grid.points()) / default_jobs());
  study::SweepOptions options = sweep_options(flags, common);
  options.interrupted = interrupted;
  const study::Comparison comparison = of_flags(sweep.base, flags, [&] {
    study::require_effect(sweep, files);
    return study::compare(sweep, files, options, best_by);
  });
  const std::vector<std::string> notes = study::notes_of(sweep, files, true);
  const int code = show(comparison, common, false, flags.must_fit, notes);
  print_notes(notes, common);
  return code;
}

} // namespace stepsim::cli
