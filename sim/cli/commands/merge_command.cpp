// stepsim merge SHARD... -o FILE: joins the shards of a sweep.
// Shards are merged as lines by the number of their point (sweep/sweep_merge.hpp), which keeps the
// merged file byte-identical to an unsharded one.
#include "cli/commands/merge_command.hpp"

#include <CLI/CLI.hpp>

#include <array>

#include "base/error.hpp"
#include "base/shell_word.hpp"
#include "cli/shell/output.hpp"
#include "cli/shell/replaced_file.hpp"
#include "import/import_detect.hpp"
#include "sweep/column_reader.hpp"
#include "sweep/sweep_merge.hpp"
#include "json/file_write.hpp"

namespace stepsim::cli {

namespace {

constexpr std::array kRecordFormats{Format::jsonl, Format::json, Format::csv, Format::npz};

constexpr CommandText kMergeText{
    "merge",
    "SHARD...",
    "Joins the files that `stepsim sweep --shard i/n` wrote, in any order, into the file that the\n"
    "sweep writes in one piece, byte for byte. Missing points: exit 4, nothing is written. One "
    "file alone changes its\n"
    "form: .npz becomes .jsonl and back.",
    "stepsim merge out.shard-*-of-4.jsonl -o out.jsonl\n"
    "stepsim merge out.npz -o out.jsonl",
    "The records are described in docs/file-formats.md and schemas/point.schema.json.",
    kRecordFormats,
};

// The format of the shards is told by the first bytes, since a header record in CSV is a comment;
// the first shard speaks for all. JSON Lines and the binary form become each other; CSV has no
// types and stays what it is.
study::RecordFormat format_of_merge(std::string_view shard, std::string_view head,
                                    const Common& common) {
  const bool csv = head.starts_with('#');
  const Format own = csv ? Format::csv : study::is_binary_sweep(head) ? Format::npz : Format::jsonl;
  const Format asked = format_of(common, own);
  if (!head.empty() && csv != (asked == Format::csv)) {
    throw UsageError(std::string(shard) + " is " +
                     (csv ? "CSV, and merge joins records as they are: --format csv, -o FILE.csv"
                          : "no CSV: --format jsonl, -o FILE.jsonl or FILE.npz"));
  }
  if (asked == Format::npz && !io::is_replaceable(common.output)) {
    throw UsageError("a binary file is written at many places: give -o FILE.npz");
  }
  return asked == Format::csv   ? study::RecordFormat::csv
         : asked == Format::npz ? study::RecordFormat::npz
                                : study::RecordFormat::jsonl;
}

// "0-4, 7, 9-11": the first twenty ranges of missing points, since one missing shard of many leaves
// a range per point.
std::string ranges_text(const study::MergeReport& report) {
  constexpr std::size_t kMost = 20;
  std::string text;
  for (std::size_t i = 0; i < report.missing.size() && i < kMost; ++i) {
    const auto& [first, last] = report.missing[i];
    text += (i > 0 ? ", " : "") + std::to_string(first) +
            (last > first ? "-" + std::to_string(last) : "");
  }
  if (report.missing.size() > kMost) {
    text += " and " + std::to_string(report.missing.size() - kMost) + " more ranges";
  }
  return text;
}

} // namespace

// Where points are missing the commands that compute them are printed, ready to be pasted into a
// shell.
int merge(const Invocation& invocation) {
  std::vector<std::string> shards;
  CLI::App app;
  app.add_option("SHARD", shards, "files of one sweep: JSON Lines, CSV or .npz")->required();
  Common common;
  if (!parse(app, kMergeText, invocation, common)) {
    return kOk;
  }
  const std::string head = io::head_of(shards.front());
  const study::RecordFormat format = format_of_merge(shards.front(), head, common);
  const bool to_same_text = format == study::RecordFormat::csv && !study::is_binary_sweep(head);
  refuse_other_kind(common, common.output,
                    to_same_text                         ? std::string_view(head)
                    : format == study::RecordFormat::npz ? std::string_view("PK\3\4\0", 5)
                                                         : std::string_view("{\"axes\":[]}"));
  const study::MergeReport report = study::merge_sweeps(shards, common.output, format);
  if (!report.missing.empty()) {
    std::int64_t missing = 0;
    for (const auto& [first, last] : report.missing) {
      missing += last - first + 1;
    }
    const std::string text = std::to_string(missing) + " of " + std::to_string(report.points) +
                             " points are missing: " + ranges_text(report) +
                             "; nothing written. Run again:";
    const std::string output = common.output == "-" ? "FILE" : common.output;
    (void)report_error(text, kTargetNotMet, common.color);
    for (const study::Shard& shard : report.shards_to_run) {
      print_error_lines("  stepsim sweep SWEEP --shard " + std::to_string(shard.index) + "/" +
                        std::to_string(shard.count) + " -o " + base::quoted_word(output) +
                        " --resume\n");
    }
    if (report.more_shards_to_run > 0) {
      print_error_lines("  and " + std::to_string(report.more_shards_to_run) + " more shards\n");
    }
    return kTargetNotMet;
  }
  print_note(
      std::to_string(report.points) + " points" +
          (report.failed > 0 ? ", " + std::to_string(report.failed) + " of them failed" : ""),
      common);
  return kOk;
}

} // namespace stepsim::cli
