// stepsim collective: the cost of collective operations over a grid of flags (COL).
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <map>

#include "base/error.hpp"
#include "cli/collective_flags.hpp"
#include "cli/collective_record.hpp"
#include "cli/collective_table.hpp"
#include "cli/commands.hpp"
#include "cli/csv.hpp"
#include "cli/help.hpp"
#include "coll/algorithms.hpp"
#include "coll/crossovers.hpp"
#include "coll/validate.hpp"
#include "study/rows.hpp"

namespace stepsim::cli {

namespace {

constexpr CommandText kText{
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
};

constexpr std::array<std::string_view, 5> kMethods{"auto", "closed_form", "max_plus", "events",
                                                   "all"};
constexpr std::size_t kMaxTransfers = 10'000;

struct CollectiveOptions {
  CollectiveFlags flags;
  std::string method = "auto";
  bool crossovers = false;
  bool transfers = false;
  bool per_rank = false;
};

coll::AskedMethod asked_method(std::string_view word) {
  const auto* found = std::ranges::find(kMethods, word);
  return static_cast<coll::AskedMethod>(found - kMethods.begin());
}

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

Point point_of(const CollectiveGrid& grid, std::int64_t index) {
  Point point{grid.at(index), grid.compression_at(index), {}};
  if (point.compression) {
    const auto value = static_cast<double>(point.compression->value_bytes);
    point.gradient = {static_cast<std::int64_t>(point.collective.bytes / value), grid.shapes};
  }
  return point;
}

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

// A record and the sum over operations it belongs to.
struct Times {
  std::optional<double> closed_form_s, max_plus_s, events_s;
  double seconds{};

  void add(const Times& other) {
    const auto sum = [](const std::optional<double>& a, const std::optional<double>& b) {
      return a && b ? std::optional(*a + *b) : std::nullopt;
    };
    closed_form_s = sum(closed_form_s, other.closed_form_s);
    max_plus_s = sum(max_plus_s, other.max_plus_s);
    events_s = sum(events_s, other.events_s);
    seconds += other.seconds;
  }
};

Times times_of(const coll::CollectiveRecord& record) {
  return {record.closed_form_s, record.max_plus_s, record.events_s, record.seconds};
}

io::Json or_null(const std::optional<double>& value) {
  return value ? io::Json(*value) : io::Json();
}

io::Json inputs_tree(std::string_view kind, const coll::Collective& collective) {
  const double rate =
      collective.reduction_s_per_byte > 0 ? 1 / collective.reduction_s_per_byte : 0.0;
  const coll::LinkCost& link = collective.links.all;
  const bool one_link = !collective.links.pairs_only && link.per_byte_s > 0;
  return io::Object{{"record", kind},
                    {"ranks", static_cast<std::int64_t>(collective.ranks)},
                    {"latency_s", one_link ? io::Json(link.latency_s) : io::Json()},
                    {"bandwidth_Bps", one_link ? io::Json(1 / link.per_byte_s) : io::Json()},
                    {"reduction_Bps", rate}};
}

struct Output {
  std::vector<io::Json> extra; // crossovers, sums
  std::vector<std::string> warnings;

  void warn(const std::string& text) { study::append_each_once(warnings, {&text, 1}); }
};

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

// The rates as typed: 1 / (1 / rate) may differ in the last digit.
void set_typed_rates(const CollectiveGrid& grid, std::int64_t point, io::Json& tree) {
  if (const std::optional<double> rate = grid.value(point, "--bandwidth")) {
    tree.set("bandwidth_Bps", *rate);
  }
  if (tree.find("reduction_Bps")->as_double() > 0) {
    tree.set("reduction_Bps", grid.value(point, "--reduction-rate").value_or(0));
  }
}

std::vector<coll::TransferRecord> transfers_of(const Point& point) {
  if (!point.compression) {
    return coll::list_transfers(point.collective, kMaxTransfers);
  }
  return coll::exchange_transfers(
      coll::compressed_exchange(*point.compression, point.gradient, point.collective),
      kMaxTransfers);
}

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

void add_crossovers(const CollectiveGrid& grid, Output& output) {
  std::vector<coll::AlgorithmId> algorithms;
  for (const double word : grid.axis("--algorithm").values) {
    const auto algorithm = static_cast<coll::AlgorithmId>(static_cast<int>(word));
    if (!compression_method(word) && algorithm != coll::AlgorithmId::automatic &&
        std::ranges::find(algorithms, algorithm) == algorithms.end()) {
      algorithms.push_back(algorithm);
    }
  }
  const auto& bytes = grid.axis("--bytes").values;
  const auto [low, high] = std::minmax_element(bytes.begin(), bytes.end());
  if (algorithms.size() < 2 || *low == *high) {
    throw UsageError("--crossovers: needs two algorithms or more and a range of --bytes");
  }
  for (std::int64_t point = 0; point < grid.points(); ++point) {
    if (!grid.is_first(point, "--algorithm") || !grid.is_first(point, "--bytes")) {
      continue;
    }
    const coll::Collective collective = grid.at(point);
    for (const coll::Crossover& crossover :
         coll::find_crossovers(collective, algorithms, std::max(1.0, *low), *high)) {
      io::Json tree = inputs_tree("crossover", collective);
      tree.set("op", coll::name(collective.op));
      tree.set("below", coll::name(crossover.below));
      tree.set("above", coll::name(crossover.above));
      tree.set("bytes", crossover.bytes);
      set_typed_rates(grid, point, tree);
      output.extra.push_back(std::move(tree));
    }
  }
}

void add_sums(const CollectiveGrid& grid, const std::vector<Times>& times, Output& output) {
  const auto ops = static_cast<std::int64_t>(grid.axis("--op").values.size());
  const std::int64_t per_op = grid.points() / ops; // the operation varies slowest
  for (std::int64_t point = 0; ops > 1 && point < per_op; ++point) {
    Times sum = times[static_cast<std::size_t>(point)];
    for (std::int64_t op = 1; op < ops; ++op) {
      sum.add(times[static_cast<std::size_t>(point + op * per_op)]);
    }
    const coll::Collective collective = grid.at(point);
    io::Json tree = inputs_tree("sum", collective);
    tree.set("algorithm", coll::name(collective.algorithm));
    tree.set("bytes", collective.bytes);
    tree.set("closed_form_s", or_null(sum.closed_form_s));
    tree.set("max_plus_s", or_null(sum.max_plus_s));
    tree.set("events_s", or_null(sum.events_s));
    tree.set("seconds", sum.seconds);
    set_typed_rates(grid, point, tree);
    output.extra.push_back(std::move(tree));
  }
}

void add_options(CLI::App& app, CollectiveOptions& options) {
  add_collective_flags(app, options.flags);
  constexpr const char* kGroup = "Answer";
  app.add_option("--method", options.method,
                 "auto (the cheapest that is exact), closed_form, max_plus, events or all; default "
                 "auto")
      ->type_name("WORD")
      ->group(kGroup);
  app.add_flag("--crossovers", options.crossovers,
               "also the sizes at which the cheapest algorithm changes")
      ->group(kGroup);
  app.add_flag("--transfers", options.transfers, "also every message, the first 10000 (JSON)")
      ->group(kGroup);
  app.add_flag("--per-rank", options.per_rank, "also the times of every rank (JSON)")
      ->group(kGroup);
}

// Everything as text in the asked format; JSON and CSV records one by one.
std::string render(const CollectiveOptions& options, const CollectiveGrid& grid, Format format,
                   Output& output) {
  std::string text;
  std::vector<Times> times;
  std::vector<coll::CollectiveRecord> records; // table only
  std::vector<io::Object> rows;                // csv only
  for (std::int64_t point = 0; point < grid.points(); ++point) {
    const Point asked = point_of(grid, point);
    coll::CollectiveRecord record = evaluate(options, asked);
    times.push_back(times_of(record));
    for (const std::string& warning : record.warnings) {
      output.warn(warning);
    }
    io::Json tree = full_tree(options, asked, record);
    set_typed_rates(grid, point, tree);
    if (format == Format::table) {
      records.push_back(std::move(record));
    } else if (format == Format::csv) {
      rows.push_back(flattened(tree));
    } else {
      io::append_compact(text, tree);
      text += '\n';
    }
  }
  add_sums(grid, times, output);
  for (const io::Json& tree : output.extra) {
    require_finite(tree);
    if (format == Format::csv) {
      rows.push_back(flattened(tree));
    } else if (format != Format::table) {
      text += io::compact(tree) + "\n";
    }
  }
  if (format == Format::csv) {
    return csv_text(rows);
  }
  return format == Format::table
             ? collective_table(grid, records, options.method == "all") + extra_text(output.extra)
             : text;
}

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

int collective(const Invocation& invocation) {
  CollectiveOptions options;
  CLI::App app;
  add_options(app, options);
  app.footer(algorithm_list());
  Common common;
  if (!parse(app, kText, invocation, common)) {
    return kOk;
  }
  require_word("--method", options.method, kMethods);
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
    add_crossovers(grid, output);
  }
  write_output(common, render(options, grid, format_of(common, Format::table), output));
  print_warnings(output.warnings, common);
  return kOk;
}

} // namespace stepsim::cli
