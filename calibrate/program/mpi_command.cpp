// mpirun -np P stepsim-calibrate mpi -o CAL [--table ERRORS.jsonl]: calibrates from messages
// between two processes alone, then predicts and measures every collective (CAL 8). Every rank runs
// the whole of it, in the same order, because every measurement needs all of them; only rank 0
// prints and writes. Times of collectives enter none of the numbers that a scenario uses, only the
// grade and the note: their errors are those of a prediction and not of a fit.
#include "calibrate/program/program.hpp"

#include <CLI/CLI.hpp>

#include <cstdlib>

#include "calibrate/program/fit_parts.hpp"
#include "calibrate/program/mpi_parts.hpp"
#include "cli/shell/document.hpp"
#include "cli/shell/entry.hpp"
#include "cli/shell/output.hpp"
#include "document/json_text.hpp"

namespace stepsim::calibrate {

namespace {

using namespace mpi;

constexpr cli::CommandText kMpiText{
    "mpi",
    "-o CAL [--table ERRORS.jsonl]",
    "Measures messages between processes, makes a calibration of them, predicts every collective\n"
    "from it and measures them all with the schedules of the simulator, each checked before it is\n"
    "timed, next to the collectives of the MPI library. Start it with mpirun, one process per "
    "node.",
    "mpirun -np 4 stepsim-calibrate mpi -o bed.calibration.json --table errors.jsonl\n"
    "mpirun -np 8 --bind-to none stepsim-calibrate mpi -o bed.calibration.json --max-seconds 600\n"
    "srun -N 8 --ntasks-per-node 1 stepsim-calibrate mpi -o bed.calibration.json --links "
    "bed.links.json",
    "`stepsim-calibrate report errors.jsonl` sums up the errors; see docs/calibrate.md.",
    cli::kJsonOnly,
    kProgram,
};

// A load average above kBusyLoad before the start is a warning: half a core or more is taken by
// others.
constexpr double kBusyLoad = 0.5;
constexpr std::chrono::seconds kBetweenTables{2}; // rows that an interrupt may lose
constexpr std::chrono::seconds kRankZeroSpeaks{1};
// Shares of the time that is left when each part starts.
constexpr double kProbeShare = 0.3;
constexpr double kPairShare = 0.15;
constexpr double kWholeShare = 0.25; // only where the library's times are predicted
constexpr double kLibraryShare = 0.3;

// 0 where the system does not tell.
double load_average() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : 0;
}

// The first line of a text that may name a build host further on. What follows the first comma or
// line end often names the machine on which the library was built.
std::string library_version() {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  return text.substr(0, text.find_first_of(",\n"));
}

// What was in force: nothing that names hosts or users. The variables of the library's TCP
// transport decide when a message waits for a handshake, so that two calibrations can only be
// compared if they agree in them; a library without them has no such key.
io::Json transport_of(const MessageOptions& options, const Crowding& crowd, double load,
                      const std::optional<LateRank>& late) {
  io::Json tree(io::Object{{"library", library_version()},
                           {"segment_bytes", options.segment_bytes},
                           {"acknowledge", options.acknowledge},
                           {"processes", crowd.processes},
                           {"cores", crowd.cores},
                           {"load_average", load}});
  if (late) {
    tree.set("late_rank", std::int64_t{late->rank});
    tree.set("late_s", late->seconds);
  }
  for (const char* name : {"btl", "btl_tcp_eager_limit", "btl_tcp_sndbuf", "btl_tcp_rcvbuf"}) {
    if (const std::string value = control_variable(name); !value.empty()) {
      tree.set(name, value);
    }
  }
  return tree;
}

// What can be said before the collectives are measured: warnings of the file. The first are of
// conditions that spoil the times whatever is measured.
std::vector<std::string> warnings_of(const LinkEstimate& link, const PairRun& pairs,
                                     const MpiFlags& flags, const MessageOptions& options,
                                     bool one_host, double load) {
  std::vector<std::string> warnings;
  if (load > kBusyLoad) {
    warnings.push_back("load average " + base::significant(load, 3) +
                       " before the start: other programs take part in the times");
  }
  const std::string limit = control_variable("btl_tcp_eager_limit");
  if (!limit.empty() && options.segment_bytes > std::atoll(limit.c_str())) {
    warnings.push_back("segments of " + std::to_string(options.segment_bytes) +
                       " bytes exceed the eager limit of TCP (" + limit +
                       "): messages wait for handshakes");
  }
  warnings.insert(warnings.end(), link.warnings.begin(), link.warnings.end());
  if (link.host_bound()) {
    warnings.emplace_back("both ways at once take more than 1.3 times as long as one: the host "
                          "limits, not the links");
  }
  if (one_host) {
    warnings.emplace_back("ranks share a host: the link has class host and is no network between "
                          "nodes; start one process per node");
  }
  if (pairs.differ() && flags.links.empty() && flags.topology.empty()) {
    warnings.emplace_back("pairs of ranks differ: --topology FILE or --links FILE writes them, and "
                          "one latency and bandwidth for all is wrong for some");
  }
  if (pairs.pairs.size() < pairs.all) {
    warnings.push_back(std::to_string(pairs.pairs.size()) + " of " + std::to_string(pairs.all) +
                       " pairs of ranks were measured");
  }
  return warnings;
}

// With hundreds of small measurements some passes always differ. The warning gives their number and
// three of them: the first, the one in the middle and the last.
std::vector<std::string> shortened(const std::vector<std::string>& unsteady) {
  constexpr std::size_t kShown = 3;
  if (unsteady.size() <= kShown) {
    return unsteady;
  }
  std::string text = std::to_string(unsteady.size()) + " measurements are unsteady, among them ";
  for (std::size_t i = 0; i < kShown; ++i) {
    text += (i == 0 ? "" : "; ") + unsteady[i * (unsteady.size() - 1) / (kShown - 1)];
  }
  return {text};
}

// A file of probes is as good as what it predicted: the 90th percentile of the errors counts, not
// how straight the curves of the probes are. Of small messages cores decide, not links.
void grade(std::vector<ErrorRow> rows, io::Json& tree) {
  constexpr std::int64_t kLeastBytes = 15'000; // 16 KiB, moved by up to 5 %
  std::erase_if(rows, [](const ErrorRow& row) { return row.bytes < kLeastBytes; });
  const ErrorSummary all = summarise(rows);
  if (all.errors) {
    tree.set("grade", links::kGrades[grade_of(all.errors->p90)]);
    tree.set("note", tree.find("note")->as_string() + "; |error| of " +
                         std::to_string(all.counted) +
                         " collectives of 16 KiB and more, which were measured too: median " +
                         base::percent(all.errors->median, 2) + ", 90th percentile " +
                         base::percent(all.errors->p90, 2));
  }
}

// Results are verified before anything is timed. Predictions need the probes alone, so that the
// collectives measured afterwards test them.
int calibrate_and_compare(const MpiFlags& flags, const MpiSettings& settings,
                          const cli::Common& common, const Runtime& runtime) {
  const auto start = std::chrono::steady_clock::now();
  Watchdog watchdog(runtime.rank(), settings.timeout_s);
  Wire wire(MPI_COMM_WORLD, settings.table.messages.segment_bytes);
  // The same on all ranks, since all take part in every measurement.
  const auto left = [&](double share) {
    const double elapsed = largest_of_all(seconds_since(start), wire.group());
    return share * std::max(0.0, settings.max_seconds - elapsed);
  };
  const Crowding crowd = crowding(wire.group());
  const std::vector<std::uint32_t> hosts = hosts_of_ranks(wire.group());
  const bool one_host = std::ranges::max(hosts) + 1 < hosts.size();
  const double load = load_average();
  watchdog.begin("verification");
  verify_all(settings.table.messages, wire);

  const ProbeRun probes = run_probes(wire, watchdog, left(kProbeShare));
  const LinkEstimate link = estimate_link(probes.times);
  std::optional<ProbeRun> whole;
  if (!settings.assumed.empty()) {
    whole = run_whole_probes(probes.times, wire, watchdog, left(kWholeShare));
  }
  TableOptions options = settings.table;
  options.transport = transport_of(options.messages, crowd, load, options.late);
  options.most_probed = std::ranges::max(probes.times.pingpong, {}, &io::Sample::bytes).bytes;
  const PairRun pairs = run_pairs(settings.pairs, left(kPairShare), wire, watchdog);
  LinkEstimate hosts_alone = link;
  std::optional<io::Json> topology;
  if (!flags.topology.empty()) {
    const FabricEstimate fabric = estimate_fabric(
        shared_times(pairs, run_shifts(left(kPairShare), wire, watchdog), wire.ranks()));
    // A slow link or a shared one slows the probes of all ranks, and the hosts are not to blame.
    hosts_alone.duplex_exchange = hosts_alone.duplex_shift = fabric.host_factor;
    topology = topology_tree(fabric);
  }
  const LibraryRun library =
      run_library(options.most_bytes, options.dense, left(kLibraryShare), wire, watchdog);
  FileText text;
  text.name = common.output == "-" ? "mpi" : io::stem_of(common.output);
  text.importer = program_and_version();
  text.date = now_text().substr(0, 10);
  text.options = options.transport;
  text.link_class = one_host ? "host" : "network";
  text.library = library.operations;
  text.warnings = warnings_of(hosts_alone, pairs, flags, options.messages, one_host, load);
  const std::vector<std::string> said = text.warnings;
  text.warnings.insert(text.warnings.end(), probes.warnings.begin(), probes.warnings.end());
  io::Json tree = calibration_of(probes.times, link, wire.ranks(), options.messages, text);
  Predictor predictor = predictor_of(tree);
  if (topology) {
    predictor.fabric = fabric_of(*topology, wire.ranks());
  }
  if (options.late) {
    predictor.enter_s.assign(wire.ranks(), 0);
    predictor.enter_s[options.late->rank] = options.late->seconds;
  }
  std::vector<ErrorRow> of_library;
  if (whole) {
    const Predictor of_whole = predictor_of(calibration_of(
        whole->times, estimate_link(whole->times), wire.ranks(), options.messages, text));
    of_library = library_rows(library, settings.assumed, {predictor, of_whole},
                              {link, crowd, options, wire.ranks()});
  }
  // The table is rewritten while it grows, so that an interrupted run keeps its rows.
  const auto write_table = [&](const std::vector<ErrorRow>& rows) {
    std::string lines;
    for (const auto& part : {std::span(rows), std::span<const ErrorRow>(of_library)}) {
      for (const ErrorRow& row : part) {
        lines += io::compact(to_json(row)) + "\n";
      }
    }
    cli::write_named(flags.table, lines);
  };
  auto written = std::chrono::steady_clock::now();
  if (runtime.rank() == 0 && !flags.table.empty()) {
    options.progress = [&](const auto& rows) {
      if (std::chrono::steady_clock::now() - written >= kBetweenTables) {
        write_table(rows());
        written = std::chrono::steady_clock::now();
      }
    };
  }
  options.max_seconds = left(1);
  const TableRun table =
      run_table(predictor, {hosts_alone, crowd, options, wire.ranks()}, wire, watchdog);

  std::vector<std::string> unsteady = probes.warnings;
  const std::vector<std::string> of_whole = whole ? whole->warnings : std::vector<std::string>{};
  for (const std::vector<std::string>* more : {&of_whole, &library.warnings, &table.warnings}) {
    unsteady.insert(unsteady.end(), more->begin(), more->end());
  }
  const bool strictly_missed = flags.strict && !unsteady.empty();
  if (runtime.rank() != 0) {
    return strictly_missed ? cli::kTargetNotMet : cli::kOk;
  }
  std::vector<ErrorRow> rows = table.rows;
  rows.insert(rows.end(), of_library.begin(), of_library.end());
  cli::print_beside(rows_text(rows) + "\n" + library_text(library, table.rows) + "\n" +
                        pairs_text(pairs, wire.ranks()) + link_text(link),
                    common);
  cli::print_warnings(said, common);
  cli::print_warnings(shortened(unsteady), common);
  if (table.rows.size() < table.cases) {
    const std::string missing = std::to_string(table.cases - table.rows.size()) + " of " +
                                std::to_string(table.cases) +
                                " collectives were not measured within --max-seconds";
    cli::print_warnings({&missing, 1}, common);
  }
  grade(table.rows, tree);
  cli::write_tree(common, tree);
  if (!flags.table.empty()) {
    write_table(table.rows);
  }
  if (topology) {
    cli::write_named(flags.topology, io::pretty(*topology));
  }
  if (!flags.links.empty()) {
    cli::write_named(flags.links, io::pretty(links_tree(pairs)));
  }
  const bool failed = refused(tree.find("grade")->as_string(), flags.force);
  return failed || strictly_missed ? cli::kTargetNotMet : cli::kOk;
}

} // namespace

// Flags are checked before MPI starts: an error then needs no other process.
int run_mpi(const cli::Invocation& invocation) {
  MpiFlags flags;
  CLI::App app;
  add_mpi_flags(app, flags);
  cli::Common common(app, kMpiText, invocation);
  const MpiSettings settings = mpi_settings(flags);
  return on_all_ranks("mpi", [&](const Runtime& runtime) {
    if (settings.table.late && settings.table.late->rank >= runtime.ranks()) {
      throw UsageError("--late " + base::shown_value(flags.late) + ": the rank must be 0 .. " +
                       std::to_string(runtime.ranks() - 1));
    }
    return calibrate_and_compare(flags, settings, common, runtime);
  });
}

// An exception that left one process alone would leave the others waiting in MPI for ever. The
// error is printed here, and ending the job gives its exit code to mpirun. Most errors are those of
// all ranks, as of a file that all read: the others give rank 0 the time to say it for all.
int on_all_ranks(std::string_view command, const std::function<int(const Runtime&)>& run) {
  const Runtime runtime;
  if (runtime.ranks() < 2) {
    throw UsageError(std::string(command) +
                     ": need at least 2 processes, got 1; start with mpirun -np P");
  }
  try {
    return run(runtime);
  } catch (...) {
    if (runtime.rank() != 0) {
      std::this_thread::sleep_for(kRankZeroSpeaks);
    }
    Runtime::abort(cli::report_thrown());
  }
}

} // namespace stepsim::calibrate
