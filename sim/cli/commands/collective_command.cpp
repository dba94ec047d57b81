// stepsim collective: the cost of collective operations over a grid of flags (COL).
// The flags make a collective, or change one that is read from a file, and a grid of its fields.
#include "cli/commands/commands.hpp"

#include <CLI/CLI.hpp>

#include "cli/collective/collective_flags.hpp"
#include "cli/help/help_text.hpp"
#include "cli/shell/flag_values.hpp"
#include "collectives/algorithms.hpp"
#include "document/csv.hpp"
#include "run/collective_record.hpp"
#include "study/sweep/rows.hpp"

namespace stepsim::cli {

namespace {

constexpr CommandText kCollectiveText{
    "collective",
    "[FILE] --op OP --algorithm A --ranks P --bytes N --latency T --bandwidth B",
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
    " --bytes 100MB --density 0.001 --latency 436us --bandwidth 111111111.1111111B/s\n"
    "stepsim collective --op allreduce --algorithm library,ring --preset dgx_h100 --shape 1x8,10x8"
    " --bytes 1MiB:1GiB:x32 --explain",
    "--json prints one record per line for every combination; the keys are described in\n"
    "docs/algorithms.md, the files of --links, --sizes and --entry in docs/file-formats.md.",
    kTableFormats,
};

// As typed, until the sweep is made.
struct CollectiveOptions {
  CollectiveFlags flags;
  bool crossovers = false;
  bool explain = false;
  bool transfers = false;
  bool per_rank = false;
  std::string max_seconds;
};

// What follows the records of the grid, and the warnings of all of them, each once.
struct Output {
  std::vector<io::Json> extra; // crossovers, sums
  std::vector<std::string> warnings;
  std::vector<std::string> sentences; // of --explain
  std::int64_t missing = 0;           // points that were not run, after an interruption

  void warn(const std::string& text) { study::append_each_once(warnings, {&text, 1}); }
};

// The flags of the grid come first, then those of the answer.
void add_options(CLI::App& app, CollectiveOptions& options) {
  add_collective_flags(app, options.flags);
  app.option_defaults()->group("Answer");
  add_max_seconds_flag(app, options.max_seconds);
  app.add_flag("--crossovers", options.crossovers,
               "also the sizes at which the cheapest algorithm changes");
  app.add_flag("--explain", options.explain,
               "also a sentence on what the library does and what limits it (algorithm library)");
  app.add_flag("--transfers", options.transfers, "also every message, the first 10000 (JSON)");
  app.add_flag("--per-rank", options.per_rank, "also the times of every rank (JSON)");
}

// The sentence on a point of the library is a key of its record and a line below a table.
void add_explanation(io::Json& record, Output& output) {
  const bool is_library = *record.find("algorithm") == io::Json("library");
  record.set("explanation", is_library ? io::Json(study::library_sentence(record)) : io::Json());
  if (is_library) {
    output.sentences.push_back(fmt::format(
        "{}, {}x{}, {}: {}", record.text("op"), record.find("nodes")->as_integer(),
        record.find("gpus_per_node")->as_integer(),
        base::readable_bytes(record.find("bytes")->as_double()), record.text("explanation")));
  }
}

// Formats whose cells are texts; the others take the values of the records.
bool is_table(Format format) {
  return format == Format::table || format == Format::html || format == Format::markdown;
}

// The table, and crossovers and sums below it: sentences on the terminal, a table of them
// elsewhere.
std::string table_of(const Table& table, const Output& output, Format format) {
  std::vector<std::string> sentences = extra_sentences(output.extra);
  std::vector<Table> tables{table};
  if (format == Format::table) {
    std::string text = tables_in(format, tables);
    for (const auto& list : {output.sentences, sentences}) {
      text += list.empty() ? "" : "\n" + base::listed(list, {}, "\n") + "\n";
    }
    return text;
  }
  const char* heading = output.sentences.empty() ? "crossovers and sums" : "explained";
  sentences.insert(sentences.begin(), output.sentences.begin(), output.sentences.end());
  if (!sentences.empty()) {
    add_column(tables.emplace_back(), heading, sentences, std::identity());
  }
  return tables_in(format, tables);
}

// Everything as text in the asked format, JSON and CSV records one by one. A table needs all
// records before the first row, because its columns depend on them.
std::string render(const CollectiveOptions& options, const study::Sweep& sweep, study::Files& files,
                   Format format, Output& output, const Common& common) {
  const auto progress = counting(common);
  const study::RecordOptions wanted{options.transfers, options.per_rank,
                                    max_seconds(options.max_seconds), sweep.has_library_keys()};
  const std::int64_t points = sweep.grid.points();
  std::string text;
  std::vector<Times> times;
  CollectiveTable table(sweep);
  io::Array rows; // csv only
  const auto write = [&](const io::Json& tree) {
    if (format == Format::csv) {
      rows.push_back(io::flattened(tree));
    } else if (!is_table(format)) {
      io::append_compact(text, tree);
      text += '\n';
    }
  };
  for (std::int64_t point = 0; point < points; ++point) {
    if (point > 0 && interrupted()) {
      output.missing = points - point;
      break;
    }
    progress(point, points);
    io::Json tree = study::evaluate_collective(collective_at(sweep, files, point), wanted);
    if (options.explain) {
      add_explanation(tree, output);
    }
    times.push_back(times_of(tree));
    for (const io::Json& warning : tree.find("warnings")->as_array()) {
      output.warn(warning.as_string());
    }
    if (is_table(format)) {
      table.add(point, tree);
    }
    write(tree);
  }
  if (output.missing == 0) {
    add_sums(sweep, files, times, output.extra);
  }
  for (const io::Json& tree : output.extra) {
    io::require_finite(tree);
    write(tree);
  }
  if (format == Format::csv) {
    return csv_text(rows);
  }
  return is_table(format) ? table_of(table.finished(), output, format) : text;
}

// Help from the tables: an algorithm that is added appears here.
std::string algorithm_list() {
  std::vector<Candidate> rows;
  for (const collectives::AlgorithmRow& row : collectives::algorithm_table()) {
    rows.push_back({std::string(collectives::name(row.op))
                        .append(" ")
                        .append(collectives::name(row.algorithm)),
                    std::string(row.summary)});
  }
  std::vector<Candidate> methods = named(collectives::compression_table());
  std::erase_if(methods, [](const Candidate& row) { return row.word == "none"; });
  return help_list("Algorithms of each operation", rows) + "\n" +
         help_list("Compressed exchanges of allreduce", methods);
}

} // namespace

// All points are read and checked before the first is evaluated, because a grid may run for
// minutes. Crossovers are searched before it, too, so that too short a list of sizes is refused at
// once.
int collective(const Invocation& invocation) {
  CollectiveOptions options;
  CLI::App app;
  add_options(app, options);
  app.footer(algorithm_list());
  Common common(app, kCollectiveText, invocation);
  const Format format = format_of(common, Format::table);
  if ((options.transfers || options.per_rank) && (is_table(format) || format == Format::csv)) {
    throw UsageError("--transfers and --per-rank: JSON alone shows them; give --json");
  }
  const study::Sweep sweep = read_collective(options.flags, invocation.data_folder);
  if (options.transfers && sweep.base.find("topology") != nullptr) {
    throw UsageError("--transfers and --topology exclude each other: only max_plus times single "
                     "messages");
  }
  if (options.explain && !sweep.has_library_keys()) {
    throw UsageError("--explain: needs --algorithm library");
  }
  study::Files files(invocation.data_folder, {common.output});
  try {
    double estimate_s = 0;
    for (std::int64_t point = 0; point < sweep.grid.points(); ++point) {
      estimate_s += study::estimated_seconds(collective_at(sweep, files, point), options.per_rank);
    }
    refuse_meaningless_keys(sweep);
    common.work.estimate(estimate_s);
    catch_interrupts();
    Output output;
    if (options.crossovers) {
      add_crossovers(sweep, files, output.extra);
    }
    write_output(common, render(options, sweep, files, format, output, common));
    print_warnings(output.warnings, common);
    if (output.missing > 0) {
      print_note("interrupted: " + std::to_string(output.missing) + " points were not run", common);
      return kInterrupted;
    }
  } catch (const InputError& error) {
    blame_flags(error, options.flags, sweep);
    throw;
  }
  return kOk;
}

} // namespace stepsim::cli
