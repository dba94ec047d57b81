// stepsim breakeven PROBLEM: the bandwidths at which compression pays (SPA 12). Both baselines are
// shown because they answer different questions: dense training that hides its exchange behind
// backward is what compression must beat in practice, and dense training that exchanges afterwards
// is what papers compare with.
#include "cli/commands/breakeven_command.hpp"

#include "study/breakeven_result.hpp"

#include <CLI/CLI.hpp>

#include "base/quantity.hpp"
#include "cli/shell/flat_records.hpp"
#include "cli/shell/output.hpp"
#include "cli/shell/table.hpp"
#include "cli/shell/unit_text.hpp"
#include "document/json_parse.hpp"
#include "document/json_text.hpp"

namespace stepsim::cli {

namespace {

constexpr CommandText kBreakevenText{
    "breakeven",
    "PROBLEM",
    "Tells at which bandwidths compressed training is faster than dense training: than dense that\n"
    "hides its exchange behind backward, and than dense that exchanges afterwards. There can be "
    "no\n"
    "such bandwidth, those below one, above one, or both.",
    "stepsim breakeven breakeven.json\n"
    "stepsim breakeven examples/breakeven.json --json",
    "The problem file is described in docs/file-formats.md and\n"
    "schemas/compression_breakeven.schema.json. On a layer trace: stepsim solve --target\n"
    "speedup_vs_dense_overlapped=1.",
};

// Intervals in words: "below 10 Gb/s, and 40 Gb/s to 100 Gb/s". An interval that begins at 0 or has
// no end is open on that side.
std::string wins_text(const std::vector<programs::BandwidthInterval>& wins) {
  std::string text;
  for (const programs::BandwidthInterval& each : wins) {
    const auto rate = [](double value) { return value_text("bandwidth_Bps", value); };
    text += text.empty() ? "" : ", and ";
    if (each.from_Bps == 0) {
      text += each.to_Bps ? "below " + rate(*each.to_Bps) : "at every bandwidth";
    } else {
      text += each.to_Bps ? rate(each.from_Bps) + " to " + rate(*each.to_Bps)
                          : "above " + rate(each.from_Bps);
    }
  }
  return text.empty() ? "at no bandwidth" : text;
}

// Setting, intervals, and the three times at each bandwidth that the file lists.
std::string text_of(const study::BreakEvenFile& file) {
  const programs::BreakEvenProblem& problem = file.problem;
  const programs::Buckets buckets = programs::buckets_of(problem);
  std::string text =
      file.method + " on " + std::to_string(problem.ranks) +
      " ranks: " + base::readable_bytes(static_cast<double>(problem.gradient_bytes)) +
      " of gradients in " + std::to_string(buckets.count) +
      (buckets.count == 1 ? " bucket" : " buckets") + "\ncompressing, merging and scattering " +
      base::readable_seconds(problem.encode_decode_s) + "; exchange " +
      base::readable_seconds(problem.startup_s) + " + " + base::readable_bytes(problem.sent_bytes) +
      " / bandwidth\n\n";
  Table gains{{"dense exchange", "compression is faster"}, {}};
  for (const auto& [baseline, words] :
       {std::pair{programs::DenseBaseline::overlapped, "overlapped"},
        std::pair{programs::DenseBaseline::sequential, "afterwards"}}) {
    gains.rows.push_back({words, wins_text(programs::compression_gain(problem, baseline).wins)});
  }
  text += table_text(gains);
  Table points{{"bandwidth [Gb/s]", "dense overlapped [ms]", "dense afterwards [ms]",
                "compressed [ms]", "overlapped / compressed"},
               {}};
  for (const double bandwidth : file.bandwidth_Bps) {
    const double overlapped = programs::dense_overlapped_s(problem, bandwidth);
    const double compressed = programs::compressed_s(problem, bandwidth);
    points.rows.push_back({cell(bandwidth * 8e-9), milliseconds_cell(overlapped),
                           milliseconds_cell(programs::dense_sequential_s(problem, bandwidth)),
                           milliseconds_cell(compressed), cell(overlapped / compressed)});
  }
  return text + (points.rows.empty() ? "" : "\n" + table_text(points));
}

// CSV holds the times at the bandwidths of the file and not the intervals, which are no rows of the
// same columns. A number that is not finite is refused in every format.
std::string text_in(Format format, const study::BreakEvenFile& file) {
  const io::Json tree = study::breakeven_tree(file);
  require_finite(tree);
  switch (format) {
  case Format::table:
  case Format::html: // refused by `parse`
  case Format::markdown:
  case Format::svg:
    return text_of(file);
  case Format::json:
    return io::pretty(tree);
  case Format::jsonl:
    return io::compact(tree) + "\n";
  case Format::csv: {
    std::vector<io::Object> records;
    for (const io::Json& point : tree.find("points")->as_array()) {
      records.push_back(point.as_object());
    }
    return csv_text(records);
  }
  }
  return {};
}

} // namespace

// Warnings of the file are printed before the result, so that they are seen above a long table.
int breakeven(const Invocation& invocation) {
  std::string name;
  CLI::App app;
  app.add_option("PROBLEM", name, "file of kind compression_breakeven; - = standard input")
      ->required();
  Common common;
  if (!parse(app, kBreakevenText, invocation, common)) {
    return kOk;
  }
  study::Files files(invocation.data_folder, {common.output});
  const study::BreakEvenFile file = study::parse_breakeven(io::read_json(name), files);
  print_warnings(file.warnings, common);
  write_output(common, text_in(format_of(common, Format::table), file));
  return kOk;
}

} // namespace stepsim::cli
