#include "calibrate/program/mpi_parts.hpp"

#include <CLI/CLI.hpp>

#include <cmath>

#include "base/printable.hpp"
#include "calibrate/program/program.hpp"
#include "cli/shell/document.hpp"
#include "cli/shell/flag_values.hpp"
#include "scenario/files/keys/samples_keys.hpp"

namespace stepsim::calibrate {

using namespace mpi;

namespace {

constexpr double kMostSegment = 8 << 20; // the largest message that is measured
constexpr std::uint32_t kMostShown = 16; // ranks, of a table of pairs
constexpr std::int64_t kMostPairs = 120; // of a job without --pairs: all pairs of 16 ranks

// "3=20ms". Whether there is such a rank is known only when MPI runs.
std::optional<LateRank> late_of(const std::string& text) {
  if (text.empty()) {
    return std::nullopt;
  }
  const std::size_t equal = text.find('=');
  if (equal == std::string::npos) {
    throw UsageError("--late " + base::shown_value(text) + ": must be RANK=TIME, such as 3=20ms");
  }
  return LateRank{
      static_cast<std::uint32_t>(
          cli::count("--late", text.substr(0, equal), io::between(0, io::keys::kMostRanks))),
      cli::quantity("--late", text.substr(equal + 1), base::QuantityKind::time, io::above(0))};
}

} // namespace

void add_mpi_flags(CLI::App& app, MpiFlags& flags) {
  add_texts(
      app,
      {{"--table", flags.table, "FILE.jsonl",
        "predicted beside measured, JSON Lines, kept while it grows; default none"},
       {"--pairs", flags.pairs, "N", "pairs of ranks to measure, at random; default all up to 120"},
       {"--links", flags.links, "FILE", "writes latency and bandwidth of the pairs; default none"},
       {"--topology", flags.topology, "FILE",
        "writes the links of the ranks and of their switches, from all pairs and from messages of "
        "all ranks at once; the collectives are predicted over them"},
       {"--late", flags.late, "RANK=TIME",
        "a rank that begins every collective so much later; default none"},
       {"--assume", flags.assume, "LIST",
        "algorithms that the library was told to use, such as allreduce=ring: its times are "
        "predicted"},
       {"--segment", flags.segment, "SIZE",
        "messages go out in pieces of this size; also the block of lp; default 32KiB"},
       {"--timeout", flags.timeout, "TIME", "longest operation before all end; default 60s"},
       {"--max-seconds", flags.max_seconds, "N",
        "of all measurements; what is left over is said; default 300"},
       {"--rate", flags.rate, "RATE", "of the links, written into the table; default unknown"}});
  app.add_flag("--force", flags.force, "exit 0 also where the grade is fail");
  app.add_flag("--no-acknowledge", flags.no_acknowledge,
               "tree rounds do not wait for delivery, to see the effect");
  app.add_flag("--dense-sizes", flags.dense, "sizes by a factor of sqrt 2 instead of 2");
  app.add_flag("--strict", flags.strict, "exit 4 where passes differ by more than 15 %");
}

MpiSettings mpi_settings(const MpiFlags& flags) {
  MpiSettings settings;
  settings.timeout_s =
      cli::quantity("--timeout", flags.timeout, base::QuantityKind::time, io::above(0));
  settings.max_seconds =
      cli::quantity("--max-seconds", flags.max_seconds, base::QuantityKind::count, io::above(0));
  const double segment =
      cli::quantity("--segment", flags.segment, base::QuantityKind::size, io::above(0));
  if (std::fmod(segment, kElement) != 0 || segment > kMostSegment) {
    throw UsageError("--segment " + base::shown_value(flags.segment) +
                     ": must be a multiple of 4 bytes, at most 8 MiB");
  }
  TableOptions& table = settings.table;
  table.messages.segment_bytes = static_cast<std::int64_t>(segment);
  table.messages.acknowledge = !flags.no_acknowledge;
  table.dense = flags.dense;
  if (!flags.rate.empty()) {
    table.rate = cli::quantity("--rate", flags.rate, base::QuantityKind::rate, io::above(0));
  }
  settings.pairs =
      cli::optional_count("--pairs", flags.pairs, io::at_least(1)).value_or(kMostPairs);
  settings.assumed = parse_assumed(flags.assume);
  for (const auto& [flag, value] :
       {std::pair("--topology", &flags.topology), std::pair("--late", &flags.late)}) {
    if (!value->empty() && !settings.assumed.empty()) {
      throw UsageError(std::string(flag) +
                       " and --assume exclude each other: a library's times are "
                       "predicted for equal links and ranks that begin together");
    }
  }
  if (!flags.topology.empty() && !flags.pairs.empty()) {
    throw UsageError("--topology and --pairs exclude each other: a topology needs all pairs");
  }
  if (!flags.topology.empty()) {
    settings.pairs = std::numeric_limits<std::int64_t>::max();
  }
  table.late = late_of(flags.late);
  return settings;
}

std::string link_text(const LinkEstimate& link) {
  return "latency " + base::readable_seconds(link.alpha) + ", of which " +
         base::readable_seconds(link.delay_s) + " hold no port, per block " +
         base::readable_seconds(link.block_latency_s) + ", bandwidth " +
         base::readable_rate(1 / link.beta) + ", adding " + base::readable_rate(1 / link.gamma) +
         ", both ways x" + base::significant(link.duplex_exchange, 3) + " (one peer), x" +
         base::significant(link.duplex_shift, 3) + " (two peers)\n";
}

std::string rows_text(const std::vector<ErrorRow>& rows) {
  cli::Table table{
      {"operation", "algorithm", "bytes", "predicted [ms]", "measured [ms]", "error [%]", "flags"},
      {}};
  for (const ErrorRow& row : rows) {
    const std::string flags = base::listed(row.flags, {}, " ");
    table.rows.push_back({row.op, row.algorithm, std::to_string(row.bytes),
                          cli::milliseconds_cell(row.predicted_s),
                          cli::milliseconds_cell(row.measured_s),
                          base::percent_number(row.relative_error()), flags.empty() ? "-" : flags});
  }
  std::string text = cli::table_text(table);
  const ErrorSummary all = summarise(rows);
  if (all.errors) {
    text += "|error| of " + std::to_string(all.counted) + " rows that count: median " +
            base::percent(all.errors->median) + ", 90th percentile " +
            base::percent(all.errors->p90) + "\n";
  }
  return text;
}

// Rows of both kinds have the same sizes, except where an operation needs equal parts.
std::string library_text(const LibraryRun& library, const std::vector<ErrorRow>& rows) {
  cli::Table table{
      {"operation", "bytes", "library [ms]", "fastest own [ms]", "by", "own / library"}, {}};
  for (const LibrarySamples& each : library.operations) {
    const std::string_view op = collectives::name(each.op);
    for (const auto& [bytes, seconds] : seconds_by_size(each.samples)) {
      const double median = base::median(seconds);
      const ErrorRow* best = nullptr;
      for (const ErrorRow& row : rows) {
        const bool same = row.op == op && static_cast<double>(row.bytes) == bytes &&
                          !row.algorithm.starts_with(kLibraryPrefix) &&
                          row.algorithm != "gtopk_tree";
        if (same && (best == nullptr || row.measured_s < best->measured_s)) {
          best = &row;
        }
      }
      table.rows.push_back(
          {std::string(op), base::shortest(bytes), cli::milliseconds_cell(median),
           best != nullptr ? cli::milliseconds_cell(best->measured_s) : "-",
           best != nullptr ? best->algorithm : "-",
           best != nullptr ? base::significant(best->measured_s / median, 3) : "-"});
    }
  }
  return table.rows.empty() ? "" : cli::table_text(table);
}

std::string pairs_text(const PairRun& run, std::uint32_t ranks) {
  if (run.pairs.empty()) {
    return "";
  }
  std::string text;
  if (ranks <= kMostShown) {
    cli::Table table{{"pair [MB/s]"}, {}};
    for (std::uint32_t b = 1; b < ranks; ++b) {
      table.headings.push_back(std::to_string(b));
    }
    for (std::uint32_t a = 0; a + 1 < ranks; ++a) {
      std::vector<std::string> cells(ranks, "-");
      cells.front() = std::to_string(a);
      for (const PairTimes& pair : run.pairs) {
        if (pair.a == a && pair.per_byte_s() > 0) {
          cells[pair.b] = base::significant(1e-6 / pair.per_byte_s(), 4);
        }
      }
      table.rows.push_back(std::move(cells));
    }
    text = cli::table_text(table);
  }
  const auto [least, most] = std::ranges::minmax_element(run.pairs, {}, &PairTimes::large_s);
  const auto named = [](const PairTimes& pair) {
    return "ranks " + std::to_string(pair.a) + " and " + std::to_string(pair.b) + " " +
           base::readable_seconds(pair.large_s);
  };
  return text + std::to_string(run.pairs.size()) + " of " + std::to_string(run.all) +
         " pairs, 256 KiB one way: fastest " + named(*least) + ", slowest " + named(*most) +
         (run.differ() ? "; pairs differ\n" : "; alike\n");
}

} // namespace stepsim::calibrate
