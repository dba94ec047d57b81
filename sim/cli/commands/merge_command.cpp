// stepsim merge SHARD... -o FILE: joins the shards of a sweep.
// Shards are merged as lines by the number of their point (study/sweep/sweep.hpp), which
// keeps the merged file byte-identical to an unsharded one.
#include "cli/commands/commands.hpp"

#include <CLI/CLI.hpp>

#include "base/shell_word.hpp"
#include "import/import_detect.hpp"
#include "study/sweep/sweep.hpp"

namespace stepsim::cli {

namespace {

constexpr std::array kRecordFormats{Format::jsonl, Format::json, Format::csv};

constexpr CommandText kMergeText{
    "merge",
    "SHARD...",
    "Joins the files that `stepsim sweep --shard i/n` wrote, in any order, into the file that the\n"
    "sweep writes in one piece, byte for byte. Missing points: exit 4, nothing is written.",
    "stepsim merge out.shard-*-of-4.jsonl -o out.jsonl",
    "The records are described in docs/file-formats.md and schemas/point.schema.json.",
    kRecordFormats,
};

// The format of the shards is told by the first bytes, since a header record in CSV is a comment;
// the first shard speaks for all. Records stay what they are.
void require_format_of(std::string_view shard, std::string_view head, const Common& common) {
  const bool csv = head.starts_with('#');
  const Format asked = format_of(common, csv ? Format::csv : Format::jsonl);
  if (!head.empty() && csv != (asked == Format::csv)) {
    throw UsageError(std::string(shard) + " is " +
                     (csv ? "CSV, and merge joins records as they are: --format csv, -o FILE.csv"
                          : "no CSV: --format jsonl or -o FILE.jsonl"));
  }
}

// "0-4, 7, 9-11": the first twenty ranges of missing points, since one missing shard of many leaves
// a range per point.
std::string ranges_text(const study::MergeReport& report) {
  constexpr std::size_t kMost = 20;
  const std::span all(report.missing);
  const auto range_text = [](const auto& range) {
    return std::to_string(range.first) +
           (range.second > range.first ? "-" + std::to_string(range.second) : "");
  };
  return base::listed(all.first(std::min(all.size(), kMost)), range_text) +
         (all.size() > kMost ? " and " + std::to_string(all.size() - kMost) + " more ranges" : "");
}

} // namespace

// Where points are missing the commands that compute them are printed, ready to be pasted into a
// shell.
int merge(const Invocation& invocation) {
  std::vector<std::string> shards;
  CLI::App app;
  add_argument(app, "SHARD", shards, "files of one sweep: JSON Lines or CSV");
  Common common(app, kMergeText, invocation);
  const std::string head = io::head_of(shards.front());
  require_format_of(shards.front(), head, common);
  refuse_other_kind(common, common.output,
                    head.starts_with('#') ? std::string_view(head) : "{\"axes\":[]}");
  const study::MergeReport report = study::merge_sweeps(shards, common.output);
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
      print_error_lines(fmt::format("  stepsim sweep SWEEP --shard {}/{} -o {} --resume\n",
                                    shard.index, shard.count, base::quoted_word(output)));
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
