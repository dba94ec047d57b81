// mpirun -np P stepsim-calibrate replay SCENARIO --calibration CAL: a training step executed for
// real beside the simulator's prediction (CAL 9). Prediction and execution have the same buckets
// and the same planned computation, so that they differ by the model of the network and of the
// overlap alone.
#include "calibrate/program/program.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>

#include "calibrate/mpi/replay_run.hpp"
#include "cli/shell/document.hpp"
#include "cli/shell/entry.hpp"
#include "cli/shell/flag_values.hpp"
#include "document/csv.hpp"
#include "document/json_text.hpp"

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
  add_texts(
      app,
      {{"--calibration", flags.calibration, "CAL", "of this network, for the prediction"},
       {"--schedules", flags.schedules, "LIST", "several in turn; default the scenario's"},
       {"--iterations", flags.iterations, "N", "after 2 to warm up; default 10"},
       {"--scale-time", flags.scale_time, "X", "factor of all layer times; default 1"},
       {"--scale-bytes", flags.scale_bytes, "X", "factor of all gradient sizes; default 1"},
       {"--compute", flags.compute, "WORD",
        "sleep or spin; default sleep where computing and communicating threads outnumber cores"},
       {"--timeout", flags.timeout, "TIME", "longest iteration before all end; default 60s"}});
  app.get_option("--calibration")->required();
  app.add_flag("--library", flags.library,
               "the library's all-reduce instead; the scenario's collective must be calibrated");
}

// The record of one schedule: medians over the iterations after the warm-up, also of each bucket,
// whose times need not come from one iteration. The median and not the mean: one iteration that the
// system interrupted must not decide. Exposed communication is what the step takes beyond
// computation and update. A measured step may be a little shorter than the planned computation,
// because timed waiting is not exact: then it is 0 and not negative.
io::Json record_of(const ReplayPlan& plan, const ReplayRun& run) {
  const auto values = [&](const auto& part) { return base::collected<double>(run, part); };
  const auto median = [&](const auto& part) { return base::median(values(part)); };
  const std::vector<double> iterations = values(&IterationTimes::iteration_s);
  const double measured = base::median(iterations);
  io::Array buckets;
  for (std::size_t i = 0; i < plan.buckets.size(); ++i) {
    const auto of_bucket = [&](double BucketTimes::*part) {
      return median([&](const IterationTimes& times) { return times.buckets[i].*part; });
    };
    buckets.push_back(io::Object{{"index", static_cast<std::int64_t>(i)},
                                 {"bytes", plan.buckets[i].bytes},
                                 {"ready_s", of_bucket(&BucketTimes::ready_s)},
                                 {"start_s", of_bucket(&BucketTimes::start_s)},
                                 {"end_s", of_bucket(&BucketTimes::end_s)},
                                 {"predicted_start_s", plan.buckets[i].predicted_start_s},
                                 {"predicted_end_s", plan.buckets[i].predicted_end_s}});
  }
  const double computed = plan.compute_s > 0 ? median(&IterationTimes::compute_s) : 0;
  return io::Object{
      {"schedule", plan.schedule},
      {"measured_s", measured},
      {"min_s", std::ranges::min(iterations)},
      {"max_s", std::ranges::max(iterations)},
      {"predicted_s", plan.predicted_s},
      {"relative_error", plan.predicted_s / measured - 1},
      {"exposed_measured_s", std::max(0.0, measured - plan.compute_s - plan.update_s)},
      {"exposed_predicted_s", plan.predicted_exposed_s},
      {"barrier_s", median(&IterationTimes::barrier_s)},
      {"compute_error", plan.compute_s > 0 ? computed / plan.compute_s - 1 : 0},
      {"buckets", std::move(buckets)}};
}

double number_at(const io::Json& record, std::string_view key) {
  return record.find(key)->as_double();
}

// Place of each record by `key`, 1 = fastest; of equal times the earlier one comes first. A
// prediction that is off by a constant factor still picks the right schedule if both places agree.
std::string place_of(const io::Json& record, const io::Array& records, std::string_view key) {
  const auto before = [&](const io::Json& other) {
    const double difference = number_at(other, key) - number_at(record, key);
    return difference < 0 || (difference == 0 && &other < &record);
  };
  return std::to_string(1 + std::ranges::count_if(records, before));
}

std::string text_of(const io::Array& records) {
  constexpr double kMilli = 1e3;
  const std::array columns{cli::Column{"schedule", "schedule", 1, cli::in_full},
                           cli::Column{"buckets", "buckets", 1,
                                       [](const io::Json& record, const cli::Column& column) {
                                         return std::to_string(
                                             record.find(column.key)->as_array().size());
                                       }},
                           cli::Column{"predicted_s", "predicted [ms]", kMilli},
                           cli::Column{"measured_s", "measured [ms]", kMilli},
                           cli::Column{"min_s", "min [ms]", kMilli},
                           cli::Column{"max_s", "max [ms]", kMilli},
                           cli::Column{"relative_error", "error [%]", 1,
                                       [](const io::Json& record, const cli::Column& column) {
                                         return base::percent_number(number_at(record, column.key));
                                       }},
                           cli::Column{"exposed_predicted_s", "exposed predicted [ms]", kMilli},
                           cli::Column{"exposed_measured_s", "exposed [ms]", kMilli}};
  cli::Table table = cli::table_of(records, columns);
  table.headings.insert(table.headings.end(), {"place predicted", "place"});
  for (std::size_t i = 0; i < records.size(); ++i) {
    table.rows[i].push_back(place_of(records[i], records, "predicted_s"));
    table.rows[i].push_back(place_of(records[i], records, "measured_s"));
  }
  return cli::table_text(table);
}

// Warnings of all schedules without repetition. If computing itself took longer than planned, the
// processes share cores, and the error says nothing about the network.
std::vector<std::string> warnings_of(const std::vector<ReplayPlan>& plans,
                                     const io::Array& records) {
  std::vector<std::string> warnings;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    for (const std::string& warning : plans[i].warnings) { // of the scenario: often all the same
      if (std::ranges::find(warnings, warning) == warnings.end()) {
        warnings.push_back(warning);
      }
    }
    const double error = number_at(records[i], "compute_error");
    if (std::abs(error) > kComputeError) {
      warnings.push_back(plans[i].schedule + ": computing took " + base::percent(error) +
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
  const auto plans = base::collected<ReplayPlan>(
      io::split(flags.schedules), [&](std::string_view schedule) { // "": the scenario's own
        return replay_plan(scenario, calibration, std::string(schedule), wire.ranks(), scale,
                           flags.library, files);
      });
  const std::vector<ReplayRun> runs = run_replay(plans, options, wire, watchdog);
  if (runtime.rank() != 0) {
    return cli::kOk;
  }
  io::Array records;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    records.push_back(record_of(plans[i], runs[i]));
  }
  const bool scaled = scale.time != 1 || scale.bytes != 1;
  cli::Document document;
  document.text = [&] {
    return text_of(records) + (scaled ? "layer times x" + base::shortest(scale.time) +
                                            ", gradients x" + base::shortest(scale.bytes) + "\n"
                                      : "");
  };
  document.tree = [&]() -> io::Json {
    return io::Object{
        {"schedules", records}, {"scale_time", scale.time}, {"scale_bytes", scale.bytes}};
  };
  document.warnings = warnings_of(plans, records);
  cli::write_document(common, document);
  return cli::kOk;
}

} // namespace

int replay(const cli::Invocation& invocation) {
  ReplayFlags flags;
  CLI::App app;
  add_flags(app, flags);
  cli::Common common(app, kReplayText, invocation);
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
  return on_all_ranks("replay", [&](const Runtime& runtime) {
    return replay_on(flags, scale, options, timeout_s, common, runtime);
  });
}

} // namespace stepsim::calibrate
