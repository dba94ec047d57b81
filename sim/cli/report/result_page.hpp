#pragma once
// The page of HTML about a run (REP 7): its answer, its pictures, and what --json has of it.

#include "cli/plot/rows_figure.hpp"
#include "events/timeline.hpp"
#include "study/trace_study.hpp"

namespace stepsim::cli {

// One run as an HTML page: the answer in a sentence, assumptions, the parts of a step, a timeline,
// the changes that would help most (REP 7), and the scenario, which can be run again.

struct ReportedRun {
  std::string title;                  // name of the scenario, and what flags change in it
  study::Result result;               // with defaults, files and warnings
  std::vector<study::WhatIf> what_if; // the largest gain first
  // As from `explain`; empty if there is no program to explain. The page has them above the table
  // of `what_if`, and not without it.
  std::vector<std::string> sentences;
  io::Json scenario; // resolved; file names relative to the page
};

// `footer` has the version, the command and, if requested, a date.
[[nodiscard]] std::string result_page(const ReportedRun& run, const std::string& footer);

// The answer of a run in one sentence, for a report and for the what-if page.

// "A step takes 175.0 ms on 16 workers, ..": the time with its interval, throughput, efficiency,
// and what limits the time.
[[nodiscard]] std::string answer_of(const study::Result& result);

// Figures of a run: the parts of a step as a bar, and the first steps as a timeline.

// The parts of the iteration time from left to right; the rest is "other". Empty if there is no
// iteration time.
[[nodiscard]] plot::Figure time_bar(const study::Summary& summary);

// The first eight lanes of node 0. Empty if they have no spans.
[[nodiscard]] std::optional<plot::Figure> timeline_figure(const events::Timeline& timeline);

// The facts of a page without its markup: the output of `report --json`.

// The facts of a page about the records of a sweep.
struct RecordsFacts {
  std::string answer;
  std::int64_t points{}, failed{};
  std::vector<std::string> varied;
  std::optional<plot::Point> knee;
};

[[nodiscard]] io::Json report_facts(const ReportedRun& run);
[[nodiscard]] io::Json report_facts(const RecordsFacts& records);
[[nodiscard]] io::FileKind report_result_kind();  // the kind of file with the facts of a run
[[nodiscard]] io::FileKind report_records_kind(); // the kind of file with the facts of records

// The page of HTML that `stepsim study` writes.

// The step by the number of GPUs with its band, and the measured one.
[[nodiscard]] plot::Figure step_curve(const study::TraceStudy& study);

// The page asks for no other file. `footer`: version and command.
[[nodiscard]] std::string study_page(const study::TraceStudy& study, const std::string& footer);

// The page for the records of a sweep, a comparison or collectives: the best point in a sentence,
// one figure with its knee, a table of two varied fields, and all points.

struct RecordsPage {
  std::string html;
  io::Json facts; // answer, points, failed, varied fields, knee
};

inline constexpr std::size_t kMostListedPoints = 5000; // "all points" lists the first ones only

// `file`: name of the file that `rows` were read from, for texts and errors. `output`: path of the
// page, to which file names in the scenario are made relative. `footer`: plain text. Throws
// InputError if there are no records.
[[nodiscard]] RecordsPage records_page(const PlotRows& rows, const std::string& file,
                                       const std::string& output, const std::string& footer);

// An HTML page in one file that loads nothing and has no scripts: the style is inside, and a
// content security policy forbids everything else. It has light and dark colours and is readable on
// a telephone and on A4 paper. All text is escaped here.

class HtmlPage {
public:
  explicit HtmlPage(std::string_view title);

  void heading(std::string_view text);                               // heading of a section
  void paragraph(std::string_view text, std::string_view kind = ""); // kind: "answer", "grey"
  void list(std::span<const std::string> entries);
  void table(const Table& table);
  void figure(const plot::Figure& figure, std::string_view id); // `id`: unique in the page
  // A section that is closed until the reader opens it.
  void open_details(std::string_view summary);
  void close_details();
  void text(std::string_view lines); // preformatted, fixed width
  // A link that saves `content`, a JSON text, as a file `name`.
  void download(std::string_view label, std::string_view name, std::string_view content);

  [[nodiscard]] std::string finished() &&;

private:
  std::string out_;
};

} // namespace stepsim::cli
