// stepsim solve SCENARIO --for POINTER --between LO,HI --target METRIC=VALUE: all values at which a
// number of the result reaches a target.
// The search is in study/solve.hpp; here a problem is made from flags and its crossings are written
// as sentences, with a sample of the scanned curve below them.
#include "cli/commands/commands.hpp"

#include "study/solve.hpp"

#include <CLI/CLI.hpp>

#include "base/printable.hpp"
#include "cli/commands/scenario_input.hpp"
#include "cli/shell/entry.hpp"
#include "cli/shell/unit_text.hpp"
#include "study/sweep/assumed.hpp"

namespace stepsim::cli {

namespace {

constexpr CommandText kSolveText{
    "solve",
    "SCENARIO",
    R"(Finds every value of one field, between two bounds, at which a number of the result reaches a
target. Curves need not be monotone: there can be several. Exit code 4 if there is none, unless all
values meet a target with <= or >=, or memory.)",
    "stepsim solve scenario.json --for /cluster/network/bandwidth_Bps --between 1Gbps,400Gbps"
    " --target scaling_efficiency=0.9\n"
    "stepsim solve scenario.json --for /cluster/nodes --between 16,512"
    " --target scaling_efficiency=80%\n"
    "stepsim solve examples/quickstart.scenario.json --for /cluster/network/bandwidth_Bps"
    " --between 100Mbps,100Gbps --target iteration_time_s=60ms\n"
    "stepsim solve scenario.json --tokens 300B --price-per-gpu-hour 2.5 --for /cluster/nodes"
    " --between 1,256 --target 'time_to_finish_s<=3d' --minimize cost_usd",
    "The scenario file is described in docs/file-formats.md and schemas/scenario.schema.json;\n"
    "METRIC is a key of `summary` in schemas/result.schema.json.",
};

constexpr std::string_view kMemory = "memory"; // target

// As typed; without --points the search chooses the number of scanned values.
struct SolveFlags {
  std::string pointer;
  std::string between;
  std::string target;
  std::string minimize;
  std::optional<std::int64_t> points;
  ScenarioFlags scenario;
};

// Values of --between and --target stay texts: their units follow from the field and the metric.
void add_flags(CLI::App& app, SolveFlags& flags) {
  add_argument(app, "SCENARIO", flags.scenario.file, "file of kind scenario; - = standard input");
  add_value(app, "--for", flags.pointer, "POINTER", "the field to vary, e.g. /cluster/nodes")
      ->required();
  add_value(app, "--between", flags.between, "LO,HI",
            "bounds; with units, or in the SI unit of the field, e.g. 1Gbps,400Gbps")
      ->required();
  add_value(app, "--target", flags.target, "METRIC=VALUE",
            "key of the result's summary and the value to reach, e.g. scaling_efficiency=0.9, "
            "iteration_time_s=200ms, time_to_finish_s<=3d; memory = what a GPU has")
      ->required();
  add_value(app, "--minimize", flags.minimize, "METRIC",
            "tries every integer between the bounds and finds, of those that meet the target, "
            "the one with the least of this key, e.g. cost_usd");
  add_value(app, "--points", flags.points, "N",
            "most values tried first, evenly on a logarithmic scale if LO > 0; default 129, "
            "and all integers where there are at most 1024");
  add_scenario_flags(app, flags.scenario);
  add_job_flags(app, flags.scenario);
}

// At most the memory of a GPU.
study::Target memory_target(const io::Json& tree, study::Files& files) {
  const auto capacity = study::parse_scenario(tree, files).cluster.gpu_memory_bytes;
  if (!capacity) {
    throw UsageError("--target memory: how much a GPU has is not known; give "
                     "/cluster/gpu_memory_bytes, a node type or the gpu of the workload");
  }
  return {"memory_bytes", static_cast<double>(*capacity), false};
}

// The bounds are parsed as values of an axis, so that units, lists and ranges mean the same as in
// --over. The field is checked before the bounds: a unit that does not fit is often a sign of a
// misspelt key.
study::SolveProblem read_problem(const SolveFlags& flags, study::Files& files,
                                 const Common& common) {
  study::SolveProblem problem;
  problem.scenario = read_scenario_tree(flags.scenario, files, common);
  study::Target target = flags.target == kMemory ? memory_target(problem.scenario, files)
                                                 : study::parse_target(flags.target);
  problem.metric = std::move(target.metric);
  problem.target = target.value;
  problem.at_least = target.at_least;
  problem.minimize = flags.minimize;
  if (flags.points && !flags.minimize.empty()) {
    throw UsageError("--minimize tries every value: leave --points out");
  }
  if (flags.points && (*flags.points < 2 || *flags.points > 100'000)) {
    throw UsageError("--points: must be an integer in [2, 100000], got " +
                     std::to_string(*flags.points));
  }
  problem.points = flags.points;
  if (flags.pointer.starts_with('/')) { // a wrong unit may be that of a wrong key
    of_flag("--for ", [&] { study::require_field(problem.scenario, flags.pointer, files); });
  }
  const study::Axis bounds = of_flag(
      "--for, --between: ", [&] { return study::parse_over(flags.pointer + "=" + flags.between); });
  const std::string given = "--between " + base::shown_value(flags.between) + ": ";
  if (bounds.values.size() != 2 || !bounds.values[0].is_number() || !bounds.values[1].is_number()) {
    throw UsageError(given + "must be two numbers LO,HI");
  }
  if (!(bounds.values[0].as_double() < bounds.values[1].as_double())) {
    throw UsageError(given + "LO must be below HI");
  }
  problem.pointer = bounds.pointer;
  problem.low = bounds.values[0];
  problem.high = bounds.values[1];
  return problem;
}

// The last token of the pointer; the unit of a value follows from it.
std::string field_name(const study::SolveProblem& problem) {
  return io::pointer_tokens(problem.pointer).back();
}

// Whether the field is a number of bytes. Counts of nodes or layers are integers too, but have no
// unit.
bool is_size(const study::SolveProblem& problem) {
  return column_unit(field_name(problem)).factor != 1;
}

// A value of the field with its unit. Six digits would not tell a large integer from its
// neighbours, and a jump lies between two neighbours: such integers are written out.
std::string field_text(const study::SolveProblem& problem, const io::Json& value) {
  const std::string name = field_name(problem);
  if (value.is_integer() && base::rounded_to(value.as_double(), 6) != value.as_double()) {
    return io::compact(value) + (is_size(problem) ? " B" : "");
  }
  return value_text(name, value.as_double());
}

// "-" where a point failed or its run does not have the number.
std::string metric_text(const study::SolveProblem& problem, std::optional<double> value) {
  return value ? value_text(problem.metric, *value) : "-";
}

// Names the metric at the upper bound where its closest value lies between the bounds: ", and
// 0.7348 at 800 Gb/s" shows that going on does not help.
std::string beyond_text(const study::SolveProblem& problem, const study::Solution& solution) {
  const study::SolvePoint& last = solution.points.back();
  const io::Json& closest = solution.closest->value;
  return !last.metric_value || closest == last.value || closest == solution.points.front().value
             ? ""
             : ", and " + metric_text(problem, last.metric_value) + " at " +
                   field_text(problem, last.value);
}

// A few of the scanned points with the first and the last among them: rows at equal distances in
// the list of points, r (count - 1) / (rows - 1). There are at least two points, since both bounds
// are scanned.
std::string curve_text(const study::SolveProblem& problem, const study::Solution& solution) {
  constexpr std::size_t kMostRows = 12;
  const std::size_t count = solution.points.size();
  const std::size_t rows = std::min(count, kMostRows);
  const std::vector<study::SolvePoint> shown = base::collected_n<study::SolvePoint>(
      rows, [&](std::size_t r) { return solution.points[r * (count - 1) / (rows - 1)]; });
  Table table;
  const auto add = [&](const std::string& key, const auto& value_of) {
    add_value_column(table, key, base::collected<io::Json>(shown, value_of));
  };
  add(field_name(problem), &study::SolvePoint::value);
  add(problem.metric,
      [](const study::SolvePoint& point) { return io::or_null(point.metric_value); });
  if (!problem.minimize.empty()) {
    add(problem.minimize,
        [](const study::SolvePoint& point) { return io::or_null(point.minimized); });
  }
  add_column(table, "", shown, [](const study::SolvePoint& point) {
    return point.error.empty() ? "" : "error: " + point.error;
  });
  return table_text(table) +
         (count > rows ? std::to_string(rows) + " of " + std::to_string(count) + " points\n" : "");
}

// A crossing without a value on the target. Counts: "between /cluster/nodes = 5 (2.88018) and 6
// (3.36868); 6 is the first that meets it". Bytes: "at .. = 6576128 B, jumps from 165.681 ms
// (6576127 B) to 164.981 ms (6576128 B)". Numbers that are not integers have no neighbours.
std::string jump_text(const study::SolveProblem& problem, const study::SolveCrossing& crossing) {
  const bool first = crossing.point.value.as_double() > crossing.beyond->value.as_double();
  const study::SolvePoint& before = first ? *crossing.beyond : crossing.point;
  const study::SolvePoint& after = first ? crossing.point : *crossing.beyond;
  const auto [from, to] = distinct_texts(problem.metric, *before.metric_value, *after.metric_value);
  const std::string name = base::printable(problem.pointer) + " = ";
  if (!crossing.point.value.is_integer()) {
    return "at " + name + field_text(problem, crossing.point.value) + ", jumps from " + from +
           " to " + to;
  }
  const bool size = is_size(problem);
  const auto whole = [&](const io::Json& value) { return io::compact(value) + (size ? " B" : ""); };
  const std::string met = whole(crossing.point.value);
  if (size) {
    return "at " + name + met + ", jumps from " + from + " (" + whole(before.value) + ") to " + to +
           " (" + whole(after.value) + ")";
  }
  return "between " + name + whole(before.value) + " (" + from + ") and " + whole(after.value) +
         " (" + to + "); " + met + " is the " + (first ? "first" : "last") + " that meets it";
}

// " (80 %: 7.900 Gb/s to 20.40 Gb/s)"; an end beyond the bounds is named as such.
std::string range_text(const study::SolveProblem& problem,
                       const std::pair<io::Json, io::Json>& range) {
  const auto end = [&](const io::Json& value, const io::Json& bound, const char* side) {
    return value.is_null() ? side + field_text(problem, bound) : field_text(problem, value);
  };
  return " (80 %: " + end(range.first, problem.low, "below ") + " to " +
         end(range.second, problem.high, "above ") + ")";
}

// One sentence per crossing, then a part of the curve.
std::string solution_text(const study::SolveProblem& problem, const study::Solution& solution) {
  std::string text;
  if (const auto& best = solution.best) {
    text = problem.minimize + " is least at " + base::printable(problem.pointer) + " = " +
           field_text(problem, best->value) + ": " +
           value_text(problem.minimize, *best->minimized) + ", with " + problem.metric + " " +
           metric_text(problem, best->metric_value) + "\n";
  }
  for (const study::SolveCrossing& crossing : solution.crossings) {
    const std::string place = crossing.beyond ? jump_text(problem, crossing)
                                              : "at " + base::printable(problem.pointer) + " = " +
                                                    field_text(problem, crossing.point.value);
    text += problem.metric + (crossing.rising ? " rises" : " falls") + " through " +
            metric_text(problem, problem.target) + " " + place +
            (crossing.range ? range_text(problem, *crossing.range) : "") + "\n";
  }
  if (text.empty() && solution.met_everywhere) {
    text = "every " + base::printable(problem.pointer) + " from " +
           field_text(problem, problem.low) + " to " + field_text(problem, problem.high) +
           " meets " + problem.metric + " " + metric_text(problem, problem.target) +
           "; closest: " + metric_text(problem, solution.closest->metric_value) + " at " +
           field_text(problem, solution.closest->value) + "\n";
  }
  return text + (text.empty() ? "" : "\n") + curve_text(problem, solution);
}

// The crossings as flat records, each with the pointer and the target, so that records of several
// searches can be put into one table.
io::Array crossing_records(const io::Json& tree) {
  const io::Json& target = *tree.find("target");
  return io::write_each(tree.find("crossings")->as_array(), [&](const io::Json& crossing) {
    return io::Object{{"pointer", *tree.find("pointer")},
                      {"metric", *target.find("metric")},
                      {"target", *target.find("value")},
                      {"value", *crossing.find("value")},
                      {"metric_value", *crossing.find("metric_value")},
                      {"direction", *crossing.find("direction")}};
  });
}

// An error in the value that --between gave is the flag's, all others are those of the scenario
// file.
[[noreturn]] void rethrow(const InputError& error, const study::SolveProblem& problem) {
  const base::Problem& first = error.problems().front();
  if (is_at_or_below(first.where, problem.pointer)) {
    throw UsageError("--for " + problem.pointer + ": " + first.message);
  }
  throw InputError(error);
}

} // namespace

int solve(const Invocation& invocation) {
  SolveFlags flags;
  CLI::App app;
  add_flags(app, flags);
  Common common(app, kSolveText, invocation);
  study::Files files(invocation.data_folder, {common.output});
  const study::SolveProblem problem = read_problem(flags, files, common);
  const study::SweepOptions options = sweep_options(flags.scenario, common);
  const study::Solution solution = [&] {
    try {
      return study::solve(problem, files, options);
    } catch (const InputError& error) {
      blame_flag(error, problem.scenario, flags.scenario);
      rethrow(error, problem);
    }
  }();
  const io::Json tree = study::solution_tree(problem, solution);
  require_finite(tree);
  // CSV and JSON Lines hold the crossings alone; the scanned points are in JSON only.
  write_document(common, {.text = [&] { return solution_text(problem, solution); },
                          .tree = [&] { return tree; },
                          .records = [&] { return crossing_records(tree); },
                          .warnings = solution.warnings});
  print_notes(study::notes_of(study::sweep_over(problem.scenario, {}), files), common);
  if (problem.minimize.empty() ? !solution.crossings.empty() || solution.met_everywhere
                               : solution.best.has_value()) {
    return kOk;
  }
  const auto ran = std::ranges::count_if(solution.points, [](const study::SolvePoint& point) {
    return point.metric_value.has_value();
  });
  const bool all = ran == std::ssize(solution.points);
  return report_error(
      problem.metric + " does not reach " + metric_text(problem, problem.target) + " between " +
          field_text(problem, problem.low) + " and " + field_text(problem, problem.high) +
          (all ? ""
               : ", where " + std::to_string(ran) + " of " +
                     base::counted(std::ssize(solution.points), "point") + " ran") +
          "; closest: " + metric_text(problem, solution.closest->metric_value) + " at " +
          field_text(problem, solution.closest->value) + beyond_text(problem, solution),
      kTargetNotMet, common.color);
}

} // namespace stepsim::cli
