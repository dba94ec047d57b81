// mpirun -np P stepsim-calibrate replay SCENARIO --calibration CAL: a training step executed for
// real beside the simulator's prediction (CAL 9). Prediction and execution have the same buckets
// and the same planned computation, so that they differ by the model of the network and of the
// overlap alone.
#include "calibrate/program/replay_command.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <sstream>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "base/percent.hpp"
#include "base/quantity.hpp"
#include "base/statistics.hpp"
#include "calibrate/mpi/replay_run.hpp"
#include "calibrate/program/program.hpp"
#include "cli/shell/entry.hpp"
#include "cli/shell/flag_values.hpp"
#include "cli/shell/output.hpp"
#include "cli/shell/table.hpp"
#include "document/json_parse.hpp"

namespace stepsim::calibrate {

namespace {

using namespace mpi;

constexpr cli::CommandText kReplayText{
    "replay",
    "SCENARIO --calibration CAL",
    "Executes training steps for real: computation as timed waiting, communication as the real\n"
    "collective in the buckets of the schedule, and prints the times beside the simulator's. The\n"
    "scenario's network is the calibration's, its nodes are the processes.",
    "mpirun -np 4 stepsim-calibrate replay scenario.json --calibration bed.calibration.json\n"
    "mpirun -np 4 stepsim-calibrate replay scenario.json --calibration bed.calibration.json"
    " --schedules wfbp,single,mg_wfbp --scale-bytes 0.01",
    "`stepsim-calibrate mpi` makes the calibration; see docs/calibrate.md.",
    cli::kJsonOrTable,
    kProgram,
};

constexpr double kComputeError = 0.02; // above: a warning
constexpr int kThreads = 2;            // of a process: one computes, one communicates

struct ReplayFlags { // as typed
  std::string scenario, calibration, schedules, iterations = "10", scale_time = "1",
                                                scale_bytes = "1", compute, timeout = "60s";
  bool library = false;
};

void add_flags(CLI::App& app, ReplayFlags& flags) {
  app.add_option("SCENARIO", flags.scenario, "file of kind scenario")->required();
  const auto add = [&](const char* name, std::string& value, const char* type, const char* text) {
    return app.add_option(name, value, text)->type_name(type);
  };
  add("--calibration", flags.calibration, "CAL", "of this network, for the prediction")->required();
  add("--schedules", flags.schedules, "LIST", "several in turn; default the scenario's");
  add("--iterations", flags.iterations, "N", "after 2 to warm up; default 10");
  add("--scale-time", flags.scale_time, "X", "factor of all layer times; default 1");
  add("--scale-bytes", flags.scale_bytes, "X", "factor of all gradient sizes; default 1");
  add("--compute", flags.compute, "WORD",
      "sleep or spin; default sleep where computing and communicating threads outnumber cores");
  add("--timeout", flags.timeout, "TIME", "longest iteration before all end; default 60s");
  app.add_flag("--library", flags.library,
               "the library's all-reduce instead; the scenario's collective must be calibrated");
}

// An empty list is one empty word: the scenario's own schedule.
std::vector<std::string> words(const std::string& list) {
  std::vector<std::string> result;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');) {
    result.push_back(word);
  }
  return result.empty() ? std::vector<std::string>{""} : result;
}

struct Row { // of one schedule
  const ReplayPlan* plan{};
  double measured_s{}, min_s{}, max_s{};
  double exposed_s{}, barrier_s{}, compute_error{};
  // Medians over the iterations, per bucket: the times of one bucket need not come from one
  // iteration.
  std::vector<BucketTimes> buckets;
  [[nodiscard]] double error() const { return plan->predicted_s / measured_s - 1; }
};

// Over the iterations after the warm-up. The median and not the mean: one iteration that the system
// interrupted must not decide.
template <class Part> double median_of(const ReplayRun& run, Part part) {
  std::vector<double> values;
  for (const IterationTimes& times : run.iterations) {
    values.push_back(part(times));
  }
  return base::median(values);
}

// Exposed communication is what the step takes beyond computation and update. A measured step may
// be a little shorter than the planned computation, because timed waiting is not exact: then it is
// 0 and not negative.
Row row_of(const ReplayPlan& plan, const ReplayRun& run) {
  Row row;
  row.plan = &plan;
  const auto by_time = [](const IterationTimes& a, const IterationTimes& b) {
    return a.iteration_s < b.iteration_s;
  };
  const auto [least, most] = std::ranges::minmax_element(run.iterations, by_time);
  row.min_s = least->iteration_s;
  row.max_s = most->iteration_s;
  row.measured_s = median_of(run, [](const IterationTimes& t) { return t.iteration_s; });
  row.exposed_s = std::max(0.0, row.measured_s - plan.compute_s - plan.update_s);
  row.barrier_s = median_of(run, [](const IterationTimes& t) { return t.barrier_s; });
  if (plan.compute_s > 0) {
    row.compute_error =
        median_of(run, [](const IterationTimes& t) { return t.compute_s; }) / plan.compute_s - 1;
  }
  for (std::size_t i = 0; i < plan.buckets.size(); ++i) {
    row.buckets.push_back(
        {median_of(run, [i](const IterationTimes& t) { return t.buckets[i].ready_s; }),
         median_of(run, [i](const IterationTimes& t) { return t.buckets[i].start_s; }),
         median_of(run, [i](const IterationTimes& t) { return t.buckets[i].end_s; })});
  }
  return row;
}

io::Json tree_of(const Row& row) {
  io::Array buckets;
  for (std::size_t i = 0; i < row.buckets.size(); ++i) {
    const ReplayBucket& planned = row.plan->buckets[i];
    buckets.push_back(io::Object{{"index", static_cast<std::int64_t>(i)},
                                 {"bytes", planned.bytes},
                                 {"ready_s", row.buckets[i].ready_s},
                                 {"start_s", row.buckets[i].start_s},
                                 {"end_s", row.buckets[i].end_s},
                                 {"predicted_start_s", planned.predicted_start_s},
                                 {"predicted_end_s", planned.predicted_end_s}});
  }
  return io::Object{{"schedule", row.plan->schedule},
                    {"measured_s", row.measured_s},
                    {"min_s", row.min_s},
                    {"max_s", row.max_s},
                    {"predicted_s", row.plan->predicted_s},
                    {"relative_error", row.error()},
                    {"exposed_measured_s", row.exposed_s},
                    {"exposed_predicted_s", row.plan->predicted_exposed_s},
                    {"barrier_s", row.barrier_s},
                    {"compute_error", row.compute_error},
                    {"buckets", std::move(buckets)}};
}

// Place of each row by `time`, 1 = fastest; of equal times the earlier row comes first. A
// prediction that is off by a constant factor still picks the right schedule if both places agree.
template <class Time> std::vector<std::size_t> places(const std::vector<Row>& rows, Time time) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return time(rows[i]); });
  std::vector<std::size_t> place(rows.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i + 1;
  }
  return place;
}

std::string text_of(const std::vector<Row>& rows) {
  cli::Table table{{"schedule", "buckets", "predicted [ms]", "measured [ms]", "min [ms]",
                    "max [ms]", "error [%]", "exposed predicted [ms]", "exposed [ms]",
                    "place predicted", "place"},
                   {}};
  const auto predicted = places(rows, [](const Row& row) { return row.plan->predicted_s; });
  const auto measured = places(rows, [](const Row& row) { return row.measured_s; });
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    table.rows.push_back({row.plan->schedule, std::to_string(row.buckets.size()),
                          cli::milliseconds_cell(row.plan->predicted_s),
                          cli::milliseconds_cell(row.measured_s), cli::milliseconds_cell(row.min_s),
                          cli::milliseconds_cell(row.max_s), base::percent_number(row.error()),
                          cli::milliseconds_cell(row.plan->predicted_exposed_s),
                          cli::milliseconds_cell(row.exposed_s), std::to_string(predicted[i]),
                          std::to_string(measured[i])});
  }
  return cli::table_text(table);
}

// Warnings of all schedules without repetition. If computing itself took longer than planned, the
// processes share cores, and the error says nothing about the network.
std::vector<std::string> warnings_of(const std::vector<Row>& rows) {
  std::vector<std::string> warnings;
  for (const Row& row : rows) {
    for (const std::string& warning : row.plan->warnings) { // of the scenario: often all the same
      if (std::ranges::find(warnings, warning) == warnings.end()) {
        warnings.push_back(warning);
      }
    }
    if (std::abs(row.compute_error) > kComputeError) {
      warnings.push_back(row.plan->schedule + ": computing took " +
                         base::percent(row.compute_error) +
                         " longer than planned: the processes wait for cores");
    }
  }
  return warnings;
}

// The part that needs all processes. Threads that wait by spinning disturb each other if there are
// fewer cores than threads, so that waiting then sleeps unless --compute says otherwise.
int replay_on(const ReplayFlags& flags, const ReplayScale& scale, ReplayOptions options,
              double timeout_s, const cli::Common& common, const Runtime& runtime) {
  Watchdog watchdog(runtime.rank(), timeout_s);
  Wire wire(MPI_COMM_WORLD, options.messages.segment_bytes);
  const Crowding crowd = crowding(wire.group());
  options.compute = flags.compute == "sleep" ||
                            (flags.compute.empty() && kThreads * crowd.processes > crowd.cores)
                        ? Compute::sleep
                        : Compute::spin;
  study::Files files(cli::find_data_folder());
  const io::Json scenario = io::read_json(flags.scenario);
  const std::string calibration = std::filesystem::absolute(flags.calibration).string();
  std::vector<ReplayPlan> plans;
  for (const std::string& schedule : words(flags.schedules)) {
    plans.push_back(
        replay_plan(scenario, calibration, schedule, wire.ranks(), scale, flags.library, files));
  }
  const std::vector<ReplayRun> runs = run_replay(plans, options, wire, watchdog);
  if (runtime.rank() != 0) {
    return cli::kOk;
  }
  std::vector<Row> rows;
  io::Array trees;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    rows.push_back(row_of(plans[i], runs[i]));
    trees.push_back(tree_of(rows.back()));
  }
  if (cli::format_of(common, cli::Format::table) == cli::Format::json) {
    cli::write_tree(common, io::Object{{"schedules", std::move(trees)},
                                       {"scale_time", scale.time},
                                       {"scale_bytes", scale.bytes}});
  } else {
    const bool scaled = scale.time != 1 || scale.bytes != 1;
    cli::write_output(common, text_of(rows) +
                                  (scaled ? "layer times x" + base::shortest(scale.time) +
                                                ", gradients x" + base::shortest(scale.bytes) + "\n"
                                          : ""));
  }
  cli::print_warnings(warnings_of(rows), common);
  return cli::kOk;
}

} // namespace

int replay(const cli::Invocation& invocation) {
  ReplayFlags flags;
  CLI::App app;
  add_flags(app, flags);
  cli::Common common;
  if (!cli::parse(app, kReplayText, invocation, common)) {
    return cli::kOk;
  }
  ReplayOptions options;
  options.iterations = cli::count("--iterations", flags.iterations, io::at_least(1));
  options.library = flags.library;
  const ReplayScale scale{
      cli::quantity("--scale-time", flags.scale_time, base::QuantityKind::ratio, io::above(0)),
      cli::quantity("--scale-bytes", flags.scale_bytes, base::QuantityKind::ratio, io::above(0))};
  const double timeout_s =
      cli::quantity("--timeout", flags.timeout, base::QuantityKind::time, io::above(0));
  if (!flags.compute.empty()) {
    constexpr std::array<std::string_view, 2> kWords{"sleep", "spin"};
    cli::require_word("--compute", flags.compute, kWords);
  }
  const Runtime runtime;
  if (runtime.ranks() < 2) {
    throw UsageError("replay: need at least 2 processes, got 1; start with mpirun -np P");
  }
  try {
    return replay_on(flags, scale, options, timeout_s, common, runtime);
  } catch (const std::exception& error) {
    // An exception that left one process alone would leave the others waiting in MPI for ever. The
    // error is printed here, and ending the job gives its exit code to mpirun.
    const bool input = dynamic_cast<const InputError*>(&error) != nullptr;
    const bool usage = dynamic_cast<const UsageError*>(&error) != nullptr;
    (void)cli::report_error(error.what(), cli::kSimulationError);
    Runtime::abort(input ? cli::kBadInput : usage ? cli::kUsage : cli::kSimulationError);
  }
}

} // namespace stepsim::calibrate
