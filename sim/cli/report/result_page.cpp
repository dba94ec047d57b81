// Parts that a run does not have are left out: a timeline without iterations, buckets of a server.

#include "cli/report/result_page.hpp"

#include "cli/text/answer_texts.hpp"
#include "document/json_text.hpp"
#include "document/sha256.hpp"
#include "plot/colours.hpp"
#include "plot/svg.hpp"
#include "run/result_rows.hpp"
#include "run/run_timeline.hpp"
#include "study/what_if_rows.hpp"

namespace stepsim::cli {

namespace {

constexpr std::size_t kMostBucketRows = 200;

// What --set takes, the first of many.
std::string settings_of(const study::WhatIf& change) {
  constexpr std::size_t kMost = 2;
  std::string out;
  for (std::size_t i = 0; i < std::min(kMost, change.set.size()); ++i) {
    out += (i > 0 ? " " : "") + change.set[i];
  }
  return out + (change.set.size() > kMost
                    ? " and " + std::to_string(change.set.size() - kMost) + " more"
                    : "");
}

void add_changes(HtmlPage& page, const ReportedRun& run) {
  if (run.what_if.empty()) {
    return;
  }
  page.heading("What would help most");
  page.list(run.sentences);
  Table table = changes_table("change", run.what_if);
  add_column(table, "by --set", run.what_if, settings_of);
  page.table(table);
}

// How much a default matters: what a factor of conditions has of the interval; 1 where `run` names
// it.
double weight_of(const study::DefaultValue& value, const study::Summary& summary) {
  const auto part =
      std::ranges::find_if(summary.interval_parts, [&](const study::IntervalPart& each) {
        return value.pointer.ends_with("/" + std::string(each.factor));
      });
  return value.decisive ? 1 : part != summary.interval_parts.end() ? part->share : 0;
}

// The three that matter most, and the others folded.
void add_defaults(HtmlPage& page, std::vector<study::DefaultValue> defaults,
                  const study::Summary& summary) {
  constexpr std::ptrdiff_t kFirst = 3;
  page.heading("What was assumed");
  if (defaults.empty()) {
    page.paragraph("Nothing: the scenario gives every value that decides a time.");
    return;
  }
  page.paragraph("The scenario leaves these values open, and they decide a time here.");
  std::ranges::stable_sort(defaults, std::greater{}, [&](const study::DefaultValue& value) {
    return weight_of(value, summary);
  });
  const auto add = [&](auto begin, auto end) {
    Table table{{"key", "value", "reason"}};
    for (; begin != end; ++begin) {
      table.rows.push_back({begin->pointer, io::compact(begin->value), begin->reason});
    }
    page.table(table);
  };
  const auto rest = defaults.begin() + std::min(kFirst, std::ssize(defaults));
  add(defaults.begin(), rest);
  if (rest != defaults.end()) {
    page.open_details(base::counted(defaults.end() - rest, "value") + " more");
    add(rest, defaults.end());
    page.close_details();
  }
}

void add_scenario(HtmlPage& page, const ReportedRun& run) {
  const std::string text = io::pretty(run.scenario);
  page.heading("The scenario");
  page.paragraph("With all values filled in; stepsim run gives the same step. Its SHA-256 is " +
                     io::sha256(text) + ".",
                 "grey");
  page.download("scenario.json", "scenario.json", io::compact(run.scenario));
  page.open_details("The scenario as JSON");
  page.text(text);
  page.close_details();
}

constexpr std::string_view kPageHead = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
)";

constexpr std::string_view kStyle =
    R"(body { font: 16px/1.5 sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1, h2, p, li, summary { overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2rem; }
.answer { font-size: 1.1rem; font-weight: bold; } .grey { color: var(--grey); }
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: 0.9rem; }
caption { text-align: left; padding: 0.2rem 0; }
th, td { border: 1px solid var(--line); padding: 0.2rem 0.6rem; text-align: right; white-space: nowrap; }
.word { text-align: left; white-space: normal; overflow-wrap: anywhere; min-width: 7rem; }
svg { display: block; width: 100%; max-width: 640px; height: auto; margin: 1rem 0; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 0.85rem; }
a { color: var(--link); }
@page { size: A4; margin: 15mm; }
@media print {
  :root { --ink: #000; --paper: #fff; --grey: #444; --line: #999; --link: #000; }
  body { font-size: 10pt; max-width: none; padding: 0; }
  h2 { break-after: avoid; } svg, tr { break-inside: avoid; } th, td { white-space: normal; }
}
</style>
</head>
<body>
)";

// Text of users in one line, or in lines.
std::string shown(std::string_view text) { return base::escaped_markup(base::printable(text)); }

using namespace io::rows;
using io::Key;

constexpr std::array kDefaultObject{
    object("defaults", io::kKeysOf<study::kDefault>, "One default.")};

constexpr std::array kSentence{text("sentences", "One sentence.")};
constexpr std::array kWarning{text("warnings", "One warning.")};

constexpr auto kRun = std::to_array<io::Written<ReportedRun>>({
    {text("answer", "How long a step takes, and what limits it.").required(),
     [](const ReportedRun& run) { return io::Json(answer_of(run.result)); }},
    {list("defaults", kDefaultObject, "Inputs that were defaults.").required(),
     [](const ReportedRun& run) { return io::write_all(study::kDefault, run.result.defaults); }},
    io::list_row<&ReportedRun::what_if, study::kWhatIf, "One change, run again.">(
        "What would help, the largest gain first."),
    {list("sentences", kSentence, "Where the time goes; none where it is not known.").required(),
     io::value_of<&ReportedRun::sentences>},
    {list("warnings", kWarning, "What to know about the result.").required(),
     [](const ReportedRun& run) { return io::list_of(run.result.warnings); }},
    {object("scenario", {}, "The scenario, which stepsim run takes (schema scenario).", "{}")
         .open()
         .required(),
     io::value_of<&ReportedRun::scenario>},
});
constexpr Key kReportResult = object("report_result", io::kKeysOf<kRun>,
                                     "What stepsim report --json writes of a result or scenario.");

constexpr auto kPageKnee = std::to_array<io::Written<plot::Point>>({
    io::row<&plot::Point::x>("Where it is."),
    io::row<&plot::Point::y>("Value of the first curve there, in the unit of the figure."),
});
constexpr std::array kVaried{text("varied", "Name of a field.")};

constexpr auto kRecords = std::to_array<io::Written<RecordsFacts>>({
    io::row<&RecordsFacts::answer>("How many points there are, and the best of them."),
    io::row<&RecordsFacts::points>("Points without an error.").in(io::at_least(0)),
    io::row<&RecordsFacts::failed>("Points with an error.").in(io::at_least(0)),
    {list("varied", kVaried, "Fields that differ between points.").required(),
     io::value_of<&RecordsFacts::varied>},
    {object("knee", io::kKeysOf<kPageKnee>, "Knee of the figure; null where it has none.")
         .nullable()
         .required(),
     [](const RecordsFacts& facts) { return io::write(kPageKnee, facts.knee); }},
});
constexpr Key kReportRecords =
    object("report_records", io::kKeysOf<kRecords>,
           "What stepsim report --json writes of a sweep or comparison.");

constexpr std::array<std::string_view, 1> kRunExamples{
    R"({"answer":"A step takes 2 s.","defaults":[{"pointer":"/training/update_s","reason":"updates take no time","value":0}],"scenario":{},"sentences":[],"warnings":[],"what_if":[{"change":"one network card per node more","gain":0.25,"iteration_time_s":1.5,"pointer":"/cluster/nics_per_node","set":["/cluster/nics_per_node=2"],"value":2}]})"};
constexpr std::array<std::string_view, 1> kRecordsExamples{
    R"({"answer":"8 points.","failed":0,"knee":{"x":4,"y":120},"points":8,"varied":["nodes"]})"};

} // namespace

std::string result_page(const ReportedRun& run, const std::string& footer) {
  const study::Result& result = run.result;
  HtmlPage page(run.title);
  page.paragraph(answer_of(result), "answer");
  add_defaults(page, result.defaults, result.summary);
  page.heading("Where the time goes");
  page.figure(time_bar(result.summary), "bar");
  const std::int64_t last = std::clamp<std::int64_t>(std::ssize(result.iterations), 1, 3) - 1;
  if (const auto lanes = timeline_figure(study::timeline(result, {{0}, 0, last}))) {
    page.figure(*lanes, "timeline");
  }
  if (!result.buckets.empty()) {
    page.heading("Buckets");
    page.table(buckets_table(result, kMostBucketRows));
    if (result.buckets.size() > kMostBucketRows) {
      page.paragraph(std::to_string(result.buckets.size() - kMostBucketRows) +
                     " more buckets are in stepsim run --json.");
    }
  }
  add_changes(page, run);
  if (!result.warnings.empty()) {
    page.heading("Warnings");
    page.list(result.warnings);
  }
  add_scenario(page, run);
  page.paragraph(footer, "grey");
  return std::move(page).finished();
}

HtmlPage::HtmlPage(std::string_view title) : out_(kPageHead) {
  out_ += "<title>" + shown(title) + "</title>\n";
  out_ += "<style>\n" + plot::theme_style();
  out_.append(kStyle);
  out_ += "<h1>" + shown(title) + "</h1>\n";
}

void HtmlPage::heading(std::string_view text) { out_ += "<h2>" + shown(text) + "</h2>\n"; }

void HtmlPage::paragraph(std::string_view text, std::string_view kind) {
  out_ += kind.empty() ? "<p>" : "<p class=\"" + std::string(kind) + "\">";
  out_ += shown(text) + "</p>\n";
}

void HtmlPage::list(std::span<const std::string> entries) {
  out_ += "<ul>\n";
  for (const std::string& entry : entries) {
    out_ += "<li>" + shown(entry) + "</li>\n";
  }
  out_ += "</ul>\n";
}

void HtmlPage::table(const Table& table) {
  out_ += "<div class=\"wide\">\n" + table_html(table) + "</div>\n";
}

void HtmlPage::figure(const plot::Figure& figure, std::string_view id) {
  out_ += plot::inline_svg(figure, id);
}

void HtmlPage::open_details(std::string_view summary) {
  out_ += "<details>\n<summary>" + shown(summary) + "</summary>\n";
}

void HtmlPage::close_details() { out_ += "</details>\n"; }

void HtmlPage::text(std::string_view lines) {
  out_ += "<pre>" + base::escaped_markup(base::printable_lines(lines)) + "</pre>\n";
}

void HtmlPage::download(std::string_view label, std::string_view name, std::string_view content) {
  out_ += "<p><a download=\"" + shown(name) + "\" href=\"data:application/json," +
          base::percent_encoded(content, "-_.~:,/[]{}()!*") + "\">" + shown(label) + "</a></p>\n";
}

std::string HtmlPage::finished() && { return std::move(out_) + "</body>\n</html>\n"; }

io::Json report_facts(const ReportedRun& run) { return io::write(kRun, run); }
io::Json report_facts(const RecordsFacts& records) { return io::write(kRecords, records); }

io::FileKind report_result_kind() {
  return {kReportResult.name, &kReportResult, kRunExamples, false};
}
io::FileKind report_records_kind() {
  return {kReportRecords.name, &kReportRecords, kRecordsExamples, false};
}

} // namespace stepsim::cli
