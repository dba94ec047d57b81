// stepsim-calibrate report ERRORS.jsonl...: how well predictions met measurements (CAL 11). Rows of
// start-up and rows that the cores limit say nothing about the model of the links: the first are
// shown without counting, the second are counted and named. Limits turn the report into a check for
// scripts.
#include "calibrate/program/program.hpp"

#include <CLI/CLI.hpp>

#include "calibrate/core/error_table.hpp"
#include "calibrate/program/fit_parts.hpp"
#include "cli/shell/document.hpp"
#include "cli/shell/flag_values.hpp"
#include "cli/shell/output.hpp"

namespace stepsim::calibrate {

namespace {

constexpr cli::CommandText kReportText{
    "report",
    "ERRORS.jsonl...",
    "Predicted beside measured: median and 90th percentile of the error per algorithm and in all,\n"
    "the worst rows with their cause, and beside a file a plot (SVG). Rows flagged start_up_bound\n"
    "are shown but do not count. A target that is missed: exit 4.",
    "stepsim-calibrate report errors.jsonl\n"
    "stepsim-calibrate report errors.jsonl -o errors.md --max-median 10% --max-p90 25%",
    "Records are described in docs/calibrate.md.",
    cli::kJsonOrTable,
    kProgram,
};

// One row per algorithm, then all together.
cli::Table summary_table(const ErrorReport& report) {
  cli::Table table{{"algorithm", "rows", "counted", "median |error|", "90th percentile", "largest"},
                   {}};
  const auto add = [&](const ErrorSummary& summary, const std::string& name) {
    const auto percent = [&](double ErrorSpread::*part) {
      return summary.errors ? base::percent((*summary.errors).*part) : "-";
    };
    table.rows.push_back({name, std::to_string(summary.rows), std::to_string(summary.counted),
                          percent(&ErrorSpread::median), percent(&ErrorSpread::p90),
                          percent(&ErrorSpread::most)});
  };
  for (const ErrorSummary& summary : report.algorithms) {
    add(summary, summary.algorithm);
  }
  add(report.all, "all");
  return table;
}

// The rows with the largest errors and their likely cause.
cli::Table worst_table(const ErrorReport& report) {
  cli::Table table{{"operation", "algorithm", "ranks", "bytes", "predicted [ms]", "measured [ms]",
                    "error", "cause"},
                   {}};
  for (const ErrorRow& row : report.worst) {
    const std::string cause = row.cause();
    table.rows.push_back({row.op, row.algorithm, std::to_string(row.ranks),
                          std::to_string(row.bytes), cli::milliseconds_cell(row.predicted_s),
                          cli::milliseconds_cell(row.measured_s),
                          base::percent(row.relative_error()), cause.empty() ? "-" : cause});
  }
  return table;
}

// "" where the links were the limit, as they should be.
std::string host_bound_text(const ErrorReport& report) {
  return report.host_bound == 0
             ? ""
             : std::to_string(report.host_bound) + " of " + std::to_string(report.all.rows) +
                   " rows are host_bound: the cores, not the links, limited the measurement.\n";
}

std::string text_of(const ErrorReport& report) {
  return cli::table_text(summary_table(report)) + "\nworst rows\n" +
         cli::table_text(worst_table(report)) + host_bound_text(report);
}

std::string markdown_of(const ErrorReport& report, const std::string& plot) {
  const std::string host_bound = host_bound_text(report);
  return "# Predicted beside measured\n\nError = predicted / measured - 1.\n\n" +
         cli::tables_in(cli::Format::markdown, {{summary_table(report)}}) +
         (host_bound.empty() ? "" : "\n" + host_bound) + "\n![measured over predicted time](" +
         plot + ")\n\n## Worst rows\n\n" +
         cli::tables_in(cli::Format::markdown, {{worst_table(report)}});
}

} // namespace

// All limits are checked before the exit code is chosen, so that every missed one is named. The
// plot lies next to -o, under its name.
int report(const cli::Invocation& invocation) {
  std::vector<std::string> files;
  std::string min_bytes, max_median, max_p90, max_error;
  CLI::App app;
  app.add_option("ERRORS.jsonl", files, "error tables; several count as one")->required();
  add_texts(
      app,
      {{"--min-bytes", min_bytes, "SIZE", "leaves smaller rows out; default none"},
       {"--max-median", max_median, "RATIO", "largest median of |error| allowed, e.g. 10%"},
       {"--max-p90", max_p90, "RATIO", "largest 90th percentile of |error| allowed, e.g. 25%"},
       {"--max-error", max_error, "RATIO", "largest |error| of any row that counts, e.g. 40%"}});
  cli::Common common(app, kReportText, invocation);
  const double least = min_bytes.empty() ? 0
                                         : cli::quantity("--min-bytes", min_bytes,
                                                         base::QuantityKind::size, io::at_least(0));
  const std::optional<double> median_limit = largest_allowed("--max-median", max_median);
  const std::optional<double> p90_limit = largest_allowed("--max-p90", max_p90);
  const std::optional<double> error_limit = largest_allowed("--max-error", max_error);
  std::vector<ErrorRow> rows;
  for (const std::string& file : files) {
    const std::vector<ErrorRow> more = read_errors(file);
    rows.insert(rows.end(), more.begin(), more.end());
  }
  std::erase_if(rows, [&](const ErrorRow& row) { return static_cast<double>(row.bytes) < least; });
  if (rows.empty()) {
    throw UsageError("--min-bytes " + base::shown_value(min_bytes) + ": no row is as large");
  }
  const ErrorReport result = report_of(rows);
  std::filesystem::path plot = common.output;
  plot.replace_extension(".svg");
  const bool to_file = common.output != "-";
  if (cli::format_of(common, cli::Format::table) == cli::Format::json) {
    cli::write_tree(common, to_json(result));
  } else {
    cli::write_output(common,
                      to_file ? markdown_of(result, plot.filename().string()) : text_of(result));
  }
  if (to_file) {
    cli::write_named(plot.string(), error_plot(rows));
    cli::print_note("plot: " + plot.string(), common);
  }
  const auto& errors = result.all.errors;
  const bool median_missed =
      missed("--max-median", "median error", median_limit, part_of(errors, &ErrorSpread::median));
  const bool p90_missed =
      missed("--max-p90", "90th percentile", p90_limit, part_of(errors, &ErrorSpread::p90));
  const bool error_missed =
      missed("--max-error", "largest error", error_limit, part_of(errors, &ErrorSpread::most));
  return median_missed || p90_missed || error_missed ? cli::kTargetNotMet : cli::kOk;
}

} // namespace stepsim::calibrate
