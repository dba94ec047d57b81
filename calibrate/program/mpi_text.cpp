#include "calibrate/program/mpi_text.hpp"

#include <algorithm>
#include <map>

#include "base/number_text.hpp"
#include "base/percent.hpp"
#include "base/quantity.hpp"
#include "base/statistics.hpp"
#include "calibrate/mpi/measured_table.hpp"
#include "cli/shell/table.hpp"

namespace stepsim::calibrate {

using namespace mpi;

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
    std::string flags;
    for (const std::string& flag : row.flags) {
      flags += (flags.empty() ? "" : " ") + flag;
    }
    table.rows.push_back({row.op, row.algorithm, std::to_string(row.bytes),
                          cli::milliseconds_cell(row.predicted_s),
                          cli::milliseconds_cell(row.measured_s),
                          base::percent_number(row.relative_error()), flags.empty() ? "-" : flags});
  }
  std::string text = cli::table_text(table);
  const ErrorSummary all = summarise(rows);
  if (all.median) {
    text += "|error| of " + std::to_string(all.counted) + " rows that count: median " +
            base::percent(*all.median) + ", 90th percentile " + base::percent(*all.p90) + "\n";
  }
  return text;
}

// Rows of both kinds have the same sizes, except where an operation needs equal parts.
std::string library_text(const LibraryRun& library, const std::vector<ErrorRow>& rows) {
  cli::Table table{
      {"operation", "bytes", "library [ms]", "fastest own [ms]", "by", "own / library"}, {}};
  for (const LibrarySamples& each : library.operations) {
    const std::string_view op = collectives::name(each.op);
    std::map<double, std::vector<double>> by_size;
    for (const Repetition& sample : each.samples) {
      by_size[sample.datum.bytes].push_back(sample.datum.seconds);
    }
    for (const auto& [bytes, seconds] : by_size) {
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

constexpr std::uint32_t kMostShown = 16;

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
