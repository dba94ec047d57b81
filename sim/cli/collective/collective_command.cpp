// stepsim collective: the cost of collective operations over a grid of flags (COL).
// A point of the grid is validated, then evaluated, then written; all points are validated before
// the first is evaluated, because a grid may run for minutes.
#include "cli/collective/collective_command.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "base/words.hpp"
#include "cli/collective/collective_flags.hpp"
#include "cli/collective/collective_record.hpp"
#include "cli/collective/collective_sums.hpp"
#include "cli/collective/collective_table.hpp"
#include "cli/shell/flag_values.hpp"
#include "cli/shell/flat_records.hpp"
#include "cli/shell/help.hpp"
#include "cli/shell/output.hpp"
#include "coll/algorithms.hpp"
#include "coll/compress/compressed_exchange.hpp"
#include "coll/compress/compressed_record.hpp"
#include "coll/compress/compressed_time.hpp"
#include "coll/evaluate/max_plus.hpp"
#include "coll/method.hpp"
#include "coll/record.hpp"
#include "coll/validate.hpp"
#include "coll/validate_compressed.hpp"
#include "coll/work.hpp"
#include "run/work_estimate.hpp"
#include "sweep/rows.hpp"
#include "json/json_text.hpp"

namespace stepsim::cli {

namespace {

constexpr CommandText kCollectiveText{
    "collective",
    "--op OP --algorithm A --ranks P --bytes N --latency T --bandwidth B",
    "How long a collective operation takes, by closed form, by a sweep over its schedule or by\n"
    "events, and how far that is from the lower bound.",
    "stepsim collective --op allreduce --algorithm ring,be,lp --ranks 2:64:x2"
    " --bytes 4KiB:1GiB:x2 --latency 10us --bandwidth 1.25GB/s --method all\n"
    "stepsim collective --op broadcast --algorithm auto --ranks 16 --bytes 1MB --latency 5us"
    " --bandwidth 100Gbps --json\n"
    "stepsim collective --op allreduce --algorithm ring,double_binary_tree --ranks 64"
    " --bytes 1KiB:1GiB:x4 --latency 5us --bandwidth 25GB/s --crossovers\n"
    "stepsim collective --op allreduce --algorithm ring,recursive_doubling --ranks 16,64"
    " --bytes 25MiB --topology leaf_spine_2to1\n"
    "stepsim collective --op allreduce --algorithm ring,topk,gtopk_tree --ranks 4:32:x2"
    " --bytes 100MB --density 0.001 --latency 436us --bandwidth 111111111.1111111B/s",
    "--json prints one record per line for every combination; the keys are described in\n"
    "docs/algorithms.md, the files of --links and --sizes in docs/file-formats.md.",
    kTableFormats,
};

constexpr auto kAskedMethods =
    base::words<coll::AskedMethod>({{coll::AskedMethod::automatic, "auto"},
                                    {coll::AskedMethod::closed_form, "closed_form"},
                                    {coll::AskedMethod::max_plus, "max_plus"},
                                    {coll::AskedMethod::events, "events"},
                                    {coll::AskedMethod::all, "all"}});
constexpr std::size_t kMaxTransfers = 10'000;

// As typed, until the grid is made.
struct CollectiveOptions {
  CollectiveFlags flags;
  std::string method = "auto";
  bool crossovers = false;
  bool transfers = false;
  bool per_rank = false;
  std::string max_seconds;
};

// The word was checked when the flags were read.
coll::AskedMethod asked_method(std::string_view word) { return *kAskedMethods.find(word); }

// The flag behind a finding; "" for values that only files give.
std::string flag_of(const std::string& what) {
  static const std::map<std::string, std::string> kFlags{
      {"op", "--op"},
      {"algorithm", "--algorithm"},
      {"ranks", "--ranks"},
      {"bytes", "--bytes"},
      {"latency_s", "--latency"},
      {"bandwidth_Bps", "--bandwidth"},
      {"reduction_Bps", "--reduction-rate"},
      {"reduction_s_per_byte", "--reduction-rate"},
      {"block_bytes", "--block"},
      {"block_latency_s", "--block-latency"},
      {"root", "--root"},
      {"method", "--method"},
      {"candidates", "--candidates"},
      {"servers", "--servers"},
      {"placement", "--placement"},
      {"gpus_per_node", "--gpus-per-node"},
      {"nics_per_node", "--nics-per-node"},
      {"intra_latency_s", "--intra-latency"},
      {"intra_bandwidth_Bps", "--intra-bandwidth"},
      {"intra_network", "--intra-latency"},
      {"cost_form", "--param cost_form"},
      {"element_bytes", "--param element_bytes"},
      {"intra_algorithm", "--param intra_algorithm"},
      {"inter_algorithm", "--param inter_algorithm"},
      {"sizes", "--sizes"},
      {"k", "--k"},
      {"index_bytes", "--index-bytes"},
      {"allgather", "--allgather"},
      {"shapes", "--param shapes"},
  };
  const auto found = kFlags.find(what.substr(0, what.find('/')));
  return found == kFlags.end() ? "" : found->second;
}

// One combination of flags.
struct Point {
  coll::Collective collective;
  std::optional<coll::Compression> compression;
  coll::GradientPart gradient; // with a compression
};

// The elements of a compressed exchange follow from the bytes and the size of a value.
Point point_of(const CollectiveGrid& grid, std::int64_t index) {
  Point point{grid.at(index), grid.compression_at(index), {}};
  if (point.compression) {
    const auto value = static_cast<double>(point.compression->value_bytes);
    point.gradient = {static_cast<std::int64_t>(point.collective.bytes / value), grid.shapes};
  }
  return point;
}

// A compressed exchange is an all-reduce by definition: other operations are refused in words of
// the method.
std::vector<coll::Finding> findings_of(const Point& point, coll::AskedMethod asked) {
  if (!point.compression) {
    return coll::validate(point.collective, asked);
  }
  if (point.collective.op != coll::Op::allreduce) {
    return {{"algorithm",
             std::string(coll::row(point.compression->method).name) + " is not defined for " +
                 std::string(coll::name(point.collective.op)) + ", only for allreduce"}};
  }
  return coll::validate(*point.compression, point.gradient.shapes, point.collective, asked);
}

// Before anything is computed or printed.
void refuse_invalid(const CollectiveOptions& options, const Point& point) {
  const auto findings = findings_of(point, asked_method(options.method));
  if (findings.empty()) {
    return;
  }
  const coll::Finding& first = findings.front();
  const bool from_links = first.what.starts_with("links/") || first.what.starts_with("enter_s") ||
                          first.what.starts_with("chain") ||
                          first.what.starts_with("reduction_Bps/");
  if (from_links && !options.flags.links.empty()) {
    throw InputError(options.flags.links, "/" + first.what, first.message);
  }
  if (first.what.starts_with("sizes/")) {
    throw InputError(options.flags.sizes, first.what.substr(5), first.message);
  }
  const std::string flag = flag_of(first.what);
  throw UsageError((flag.empty() ? first.what : flag) + ": " + first.message);
}

// What follows the records of the grid, and the warnings of all of them, each once.
struct Output {
  std::vector<io::Json> extra; // crossovers, sums
  std::vector<std::string> warnings;

  void warn(const std::string& text) { study::append_each_once(warnings, {&text, 1}); }
};

// A pair of ranks without a listed link is found while a schedule runs; the error is the file's.
coll::CollectiveRecord evaluate(const CollectiveOptions& options, const Point& point) {
  const coll::AskedMethod asked = asked_method(options.method);
  try {
    return point.compression ? coll::make_record(*point.compression, point.gradient,
                                                 point.collective, asked, options.per_rank)
                             : coll::make_record(point.collective, asked, options.per_rank);
  } catch (const SimulationError& error) {
    if (!point.collective.links.pairs_only) {
      throw;
    }
    throw InputError(options.flags.links, "/links", error.what()); // a pair without a link
  }
}

// A compressed exchange is a sequence of collectives, whose messages follow each other.
std::vector<coll::TransferRecord> transfers_of(const Point& point) {
  if (!point.compression) {
    return coll::list_transfers(point.collective, kMaxTransfers);
  }
  return coll::exchange_transfers(
      coll::compressed_exchange(*point.compression, point.gradient, point.collective),
      kMaxTransfers);
}

// The list of transfers is cut: a ring all-reduce of 1000 ranks sends two million messages.
io::Json full_tree(const CollectiveOptions& options, const Point& point,
                   const coll::CollectiveRecord& record) {
  io::Json tree = record_tree(record);
  if (options.transfers) {
    io::Array transfers;
    for (const coll::TransferRecord& each : transfers_of(point)) {
      transfers.push_back(transfer_tree(each));
    }
    if (record.traffic.messages > transfers.size()) {
      tree.find("warnings")
          ->as_array()
          .push_back("only the first " + std::to_string(kMaxTransfers) + " of " +
                     std::to_string(record.traffic.messages) + " transfers are listed");
    }
    tree.set("transfers", std::move(transfers));
  }
  require_finite(tree);
  return tree;
}

// The flags of the grid come first, then those of the answer.
void add_options(CLI::App& app, CollectiveOptions& options) {
  add_collective_flags(app, options.flags);
  constexpr const char* kCollectiveGroup = "Answer";
  app.add_option("--method", options.method,
                 "auto (the cheapest that is exact), closed_form, max_plus, events or all; default "
                 "auto")
      ->type_name("WORD")
      ->group(kCollectiveGroup);
  add_max_seconds_flag(app, options.max_seconds, kCollectiveGroup);
  app.add_flag("--crossovers", options.crossovers,
               "also the sizes at which the cheapest algorithm changes")
      ->group(kCollectiveGroup);
  app.add_flag("--transfers", options.transfers, "also every message, the first 10000 (JSON)")
      ->group(kCollectiveGroup);
  app.add_flag("--per-rank", options.per_rank, "also the times of every rank (JSON)")
      ->group(kCollectiveGroup);
}

// Formats whose cells are texts; the others take the values of the records.
bool is_table(Format format) {
  return format == Format::table || format == Format::html || format == Format::markdown;
}

// CPU time of the evaluators that are asked for.
// Compressed exchanges are short sequences and never refused.
double work_seconds(const CollectiveOptions& options, const Point& point) {
  if (point.compression) {
    return 0;
  }
  const auto of = [&](coll::Method method) {
    return coll::evaluation_seconds(point.collective, method);
  };
  switch (asked_method(options.method)) {
  case coll::AskedMethod::automatic:
    return of(coll::automatic_method(point.collective));
  case coll::AskedMethod::closed_form:
    return of(coll::Method::closed_form);
  case coll::AskedMethod::max_plus:
    return of(coll::Method::max_plus);
  case coll::AskedMethod::events:
    return of(coll::Method::events);
  case coll::AskedMethod::all:
    return of(coll::Method::max_plus) + of(coll::Method::events);
  }
  return 0;
}

// The table, and crossovers and sums below it: sentences on the terminal, a table of them
// elsewhere.
std::string table_of(const Table& table, const std::vector<io::Json>& extra, Format format) {
  const std::string sentences = extra_text(extra);
  std::vector<Table> tables{table};
  if (format == Format::table) {
    return tables_in(format, tables) + sentences;
  }
  Table& below = tables.emplace_back();
  below.headings = {"crossovers and sums"};
  std::string_view rest = sentences;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    if (end > 0) {
      below.rows.push_back({std::string(rest.substr(0, end))});
    }
    rest.remove_prefix(end + 1);
  }
  tables.resize(sentences.empty() ? 1 : 2);
  return tables_in(format, tables);
}

// Everything as text in the asked format, JSON and CSV records one by one. A table needs all
// records before the first row, because its columns depend on them.
std::string render(const CollectiveOptions& options, const CollectiveGrid& grid, Format format,
                   Output& output, const Common& common) {
  const auto progress = counting(common);
  const double longest = max_seconds(options.max_seconds);
  std::string text;
  std::vector<Times> times;
  std::vector<coll::CollectiveRecord> records; // table only
  std::vector<io::Object> rows;                // csv only
  for (std::int64_t point = 0; point < grid.points(); ++point) {
    progress(point, grid.points());
    const Point asked = point_of(grid, point);
    study::refuse_long_work(work_seconds(options, asked), longest);
    coll::CollectiveRecord record = evaluate(options, asked);
    times.push_back(times_of(record));
    for (const std::string& warning : record.warnings) {
      output.warn(warning);
    }
    io::Json tree = full_tree(options, asked, record);
    set_typed_rates(grid, point, tree);
    if (is_table(format)) {
      records.push_back(std::move(record));
    } else if (format == Format::csv) {
      rows.push_back(flattened(tree));
    } else {
      io::append_compact(text, tree);
      text += '\n';
    }
  }
  add_sums(grid, times, output.extra);
  for (const io::Json& tree : output.extra) {
    require_finite(tree);
    if (format == Format::csv) {
      rows.push_back(flattened(tree));
    } else if (!is_table(format)) {
      text += io::compact(tree) + "\n";
    }
  }
  if (format == Format::csv) {
    return csv_text(rows);
  }
  return is_table(format) ? table_of(collective_table(grid, records, options.method == "all"),
                                     output.extra, format)
                          : text;
}

// Help from the tables: an algorithm that is added appears here.
std::string algorithm_list() {
  std::vector<HelpRow> rows;
  for (const coll::AlgorithmRow& row : coll::algorithm_table()) {
    rows.emplace_back(std::string(coll::name(row.op)).append(" ").append(coll::name(row.algorithm)),
                      row.summary);
  }
  std::vector<HelpRow> methods;
  for (const coll::CompressionRow& row : coll::compression_table()) {
    if (row.method != coll::CompressionMethod::none) {
      methods.emplace_back(std::string(row.name), row.summary);
    }
  }
  return help_list("Algorithms of each operation", rows) + "\n" +
         help_list("Compressed exchanges of allreduce", methods);
}

} // namespace

// Crossovers are searched before the grid is evaluated, so that too short a list of sizes is
// refused at once.
int collective(const Invocation& invocation) {
  CollectiveOptions options;
  CLI::App app;
  add_options(app, options);
  app.footer(algorithm_list());
  Common common;
  if (!parse(app, kCollectiveText, invocation, common)) {
    return kOk;
  }
  require_word("--method", options.method, kAskedMethods.all());
  const CollectiveGrid grid = parse_collective_flags(options.flags, invocation.data_folder);
  if (options.transfers && grid.network) {
    throw UsageError("--transfers and --topology exclude each other: only max_plus times single "
                     "messages");
  }
  for (std::int64_t point = 0; point < grid.points(); ++point) {
    refuse_invalid(options, point_of(grid, point));
  }
  Output output;
  if (options.crossovers) {
    add_crossovers(grid, output.extra);
  }
  write_output(common, render(options, grid, format_of(common, Format::table), output, common));
  print_warnings(output.warnings, common);
  return kOk;
}

} // namespace stepsim::cli
