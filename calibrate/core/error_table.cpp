// Rows are read and written with the same keys, so that a table which was written can be read
// again. A relative error that is given is compared with the one that follows from both times: a
// table that was edited by hand must not contradict itself.
#include "calibrate/core/error_table.hpp"

#include <cassert>

#include "base/collected.hpp"
#include "document/fields/members.hpp"
#include "document/json_text.hpp"
#include "plot/svg.hpp"
#include "scenario/files/import_source.hpp"

namespace stepsim::calibrate {

namespace {

constexpr std::size_t kWorst = 5;
constexpr double kAgrees = 1e-6; // of a given relative_error

ErrorRow parse_row(const io::Json& json) {
  io::Problems problems;
  io::Fields fields(json, problems);
  ErrorRow row;
  row.op = io::kSampleOps[fields.word("op", io::kSampleOps, std::nullopt)];
  row.algorithm = fields.string("algorithm");
  row.ranks = fields.integer("ranks", io::at_least(1));
  row.bytes = fields.integer("bytes", io::between(0, static_cast<double>(base::kMaxExactBytes)));
  row.predicted_s = fields.number("predicted_s", io::measured_times(), 1);
  row.measured_s = fields.number("measured_s", io::measured_times(), 1);
  for (const std::string_view key : {"predicted_s", "measured_s"}) {
    if (json.is_object() && !fields.has(key)) {
      problems.add(json, key, "required (a number)");
    }
  }
  row.min_s = fields.optional_number("min_s", io::measured_times());
  row.p90_s = fields.optional_number("p90_s", io::measured_times());
  const auto given = fields.optional_number("relative_error", io::at_least(-1));
  if (given && std::abs(*given - row.relative_error()) > kAgrees) {
    problems.add(json, "relative_error", "differs from predicted_s / measured_s - 1");
  }
  if (fields.has("bound")) {
    row.bound = kBounds[fields.word("bound", kBounds, std::nullopt)];
  }
  (void)fields.any("bound");
  for (const io::Json& flag : fields.array("flags", false)) {
    if (!flag.is_string() || std::ranges::find(kFlags, flag.as_string()) == kFlags.end()) {
      problems.add(flag,
                   "must be host_bound, start_up_bound or extrapolated, got " + io::shown(flag));
    } else {
      row.flags.push_back(flag.as_string());
    }
  }
  for (auto& [key, target] :
       {std::pair{"rate", &row.rate}, std::pair{"transport", &row.transport}}) {
    if (const io::Json* value = fields.any(key); value != nullptr) {
      *target = *value;
    }
  }
  fields.no_more();
  problems.throw_if_any();
  return row;
}

io::Json summary_tree(const ErrorSummary& summary) {
  return io::Object{
      {"rows", summary.rows},
      {"counted", summary.counted},
      {"median_abs_error", io::or_null(part_of(summary.errors, &ErrorSpread::median))},
      {"p90_abs_error", io::or_null(part_of(summary.errors, &ErrorSpread::p90))},
      {"max_abs_error", io::or_null(part_of(summary.errors, &ErrorSpread::most))}};
}

// The rows of one algorithm as a cloud of markers, those that do not count hollow.
void add_algorithm(plot::Panel& panel, std::span<const ErrorRow> rows, const std::string& algorithm,
                   std::size_t rank) {
  plot::Curve curve{.label = algorithm, .rank = rank, .line = false};
  plot::Reported hollow{.label = "start-up, not counted", .rank = rank};
  for (const ErrorRow& row : rows) {
    if (row.algorithm == algorithm) {
      (row.counts() ? curve.points : hollow.points).push_back({row.predicted_s, row.measured_s});
    }
  }
  panel.curves.push_back(std::move(curve));
  if (!hollow.points.empty()) {
    panel.reported.push_back(std::move(hollow));
  }
}

} // namespace

// "/measured_s" at line 3 -> errors.jsonl:3: measured_s ...
[[noreturn]] void name_line(const InputError& error, const std::string& file, std::int64_t line) {
  std::vector<base::Problem> problems;
  for (const base::Problem& problem : error.problems()) {
    const bool pointer = problem.where.starts_with('/');
    problems.push_back({file, std::to_string(line),
                        (pointer ? problem.where.substr(1) + " " : "") + problem.message});
  }
  throw InputError(std::move(problems));
}

bool ErrorRow::has(std::string_view flag) const {
  return std::ranges::find(flags, flag) != flags.end();
}

std::string ErrorRow::cause() const {
  constexpr std::array<std::string_view, kFlags.size()> kCauses{
      "cores, not links, limit", "start-up with more processes than cores",
      "outside the sizes measured"};
  std::vector<std::string> causes;
  for (std::size_t i = 0; i < kFlags.size(); ++i) {
    if (has(kFlags[i])) {
      causes.emplace_back(kCauses[i]);
    }
  }
  if (!bound.empty()) {
    causes.push_back("bound by " + bound);
  }
  return base::listed(causes, {}, "; ");
}

std::vector<ErrorRow> read_errors(const std::string& path) {
  io::LineReader input(path, io::kDefaultMaxBytes);
  const std::string& name = input.name();
  std::vector<ErrorRow> rows;
  for (io::TextLine line; input.next(line);) {
    if (io::trimmed(line.text).empty()) {
      continue;
    }
    try {
      rows.push_back(parse_row(io::parse_json(line.text, name)));
    } catch (const InputError& error) {
      name_line(error, name, line.number);
    }
  }
  if (rows.empty()) {
    throw InputError(name, "", "no rows");
  }
  return rows;
}

io::Json to_json(const ErrorRow& row) {
  using Row = ErrorRow;
  io::Json tree = io::tree_of<&Row::op, &Row::algorithm, &Row::ranks, &Row::bytes,
                              &Row::predicted_s, &Row::measured_s, &Row::min_s, &Row::p90_s,
                              &Row::flags, &Row::rate, &Row::transport>(row);
  tree.set("relative_error", row.relative_error());
  tree.set("bound", io::text_or_null(row.bound));
  return tree;
}

ErrorSummary summarise(std::span<const ErrorRow> rows, std::string algorithm) {
  ErrorSummary summary;
  std::vector<double> errors;
  for (const ErrorRow& row : rows) {
    if (!algorithm.empty() && row.algorithm != algorithm) {
      continue;
    }
    ++summary.rows;
    if (row.counts()) {
      errors.push_back(std::abs(row.relative_error()));
    }
  }
  summary.algorithm = std::move(algorithm);
  summary.counted = errors.size();
  summary.errors = spread_of(std::move(errors));
  return summary;
}

ErrorReport report_of(std::span<const ErrorRow> rows) {
  ErrorReport report;
  report.all = summarise(rows);
  for (const ErrorRow& row : rows) {
    if (std::ranges::find(report.algorithms, row.algorithm, &ErrorSummary::algorithm) ==
        report.algorithms.end()) {
      report.algorithms.push_back(summarise(rows, row.algorithm));
    }
    report.host_bound += row.has("host_bound") ? 1 : 0;
  }
  report.worst.assign(rows.begin(), rows.end());
  std::ranges::stable_sort(report.worst, std::ranges::greater{},
                           [](const ErrorRow& row) { return std::abs(row.relative_error()); });
  report.worst.resize(std::min(report.worst.size(), kWorst));
  return report;
}

io::Json to_json(const ErrorReport& report) {
  io::Json tree = summary_tree(report.all);
  tree.set("algorithms", io::write_each(report.algorithms, [](const ErrorSummary& summary) {
             io::Json entry = summary_tree(summary);
             entry.set("algorithm", summary.algorithm);
             return entry;
           }));
  tree.set("worst", io::write_each(report.worst, [](const ErrorRow& row) {
             io::Json entry = to_json(row);
             entry.set("cause", row.cause());
             return entry;
           }));
  tree.set("host_bound_rows", report.host_bound);
  return tree;
}

std::string error_plot(std::span<const ErrorRow> rows) {
  assert(!rows.empty() && "a plot shows something");
  std::vector<std::string> algorithms;
  for (const ErrorRow& row : rows) {
    if (std::ranges::find(algorithms, row.algorithm) == algorithms.end()) {
      algorithms.push_back(row.algorithm);
    }
  }
  std::vector<double> times;
  for (const ErrorRow& row : rows) {
    times.insert(times.end(), {row.measured_s, row.predicted_s});
  }
  const auto [least, most] = std::ranges::minmax(times);
  const plot::Guide equal{"equal", {{least, least}, {most, most}}};
  plot::Figure figure{.title = "How near are predictions to measurements?",
                      .setting = base::counted(static_cast<std::int64_t>(rows.size()), "row") +
                                 "; above the line a measurement takes longer than predicted",
                      .x = {.title = "predicted time", .unit = "s", .scale = plot::Scale::log10},
                      .y = {.title = "measured time", .unit = "s", .scale = plot::Scale::log10}};
  if (algorithms.size() <= plot::kRanks) {
    plot::Panel panel{.guides = {equal}};
    for (std::size_t rank = 0; rank < algorithms.size(); ++rank) {
      add_algorithm(panel, rows, algorithms[rank], rank);
    }
    figure.panels.push_back(std::move(panel));
  } else {
    for (const std::string& algorithm : algorithms) {
      plot::Panel panel{.title = algorithm, .guides = {equal}};
      add_algorithm(panel, rows, algorithm, 0);
      panel.curves.front().label.clear(); // the panel's title says it
      figure.panels.push_back(std::move(panel));
    }
  }
  return plot::svg(figure);
}

} // namespace stepsim::calibrate
