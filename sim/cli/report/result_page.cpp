// Parts that a run does not have are left out: a timeline without iterations, buckets of a server.
#include "cli/report/result_page.hpp"

#include "cli/text/answer_texts.hpp"
#include "cli/text/run_text.hpp"
#include "document/json_text.hpp"
#include "document/sha256.hpp"
#include "run/memory_figures.hpp"
#include "run/run_timeline.hpp"

namespace stepsim::cli {

namespace {

constexpr std::size_t kMostBucketRows = 200;
constexpr std::int64_t kTimelineIterations = 3;

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
  Table table{{"change", "step [ms]", "gain", "80 % interval", "", "by --set"}, {}};
  for (const study::WhatIf& change : run.what_if) {
    table.rows.push_back({change.change, milliseconds_cell(change.step_s),
                          percent_cell(change.gain), gain_range_cell(change),
                          undecided_cell(change), settings_of(change)});
  }
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
    Table table{{"key", "value", "reason"}, {}};
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

study::TimelineFilter first_iterations(const study::Result& result) {
  const auto count = static_cast<std::int64_t>(result.iterations.size());
  return {{0}, 0, std::min(kTimelineIterations, std::max<std::int64_t>(count, 1)) - 1};
}

} // namespace

std::string result_page(const ReportedRun& run, const std::string& footer) {
  const study::Result& result = run.result;
  HtmlPage page(run.title);
  page.paragraph(answer_of(result), "answer");
  add_defaults(page, result.defaults, result.summary);
  page.heading("Where the time goes");
  page.figure(time_bar(result.summary), "bar");
  if (const auto lanes = timeline_figure(study::timeline(result, first_iterations(result)))) {
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

} // namespace stepsim::cli
