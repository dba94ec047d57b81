#include "study/compare.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "study/sweep.hpp"

namespace stepsim::study {

namespace {

constexpr std::string_view kTime = "iteration_time_s";

double time_of(const io::Json& row) {
  const io::Json* time = row.find(kTime);
  return time != nullptr && time->is_number() ? time->as_double() : HUGE_VAL;
}

// `ratio_name`: what a varied field called "ratio" is called here.
io::Json without_place(const io::Json& record, const std::string& ratio_name) {
  io::Json row{io::Object{}};
  for (const auto& [key, value] : record.as_object()) {
    if (key != "record" && key != "point" && key != "status") {
      row.set(key == "ratio" ? ratio_name : key, value);
    }
  }
  return row;
}

} // namespace

Comparison compare(const Sweep& sweep, Files& files, int jobs) {
  SweepOptions options;
  options.jobs = jobs;
  std::string text;
  const SweepReport report = run_sweep(sweep, files, options, text);
  Comparison comparison;
  comparison.varied = sweep.grid.field_names();
  comparison.failed = report.failed;
  for (const auto& [warning, points] : report.warnings) {
    comparison.warnings.push_back(warning);
  }
  std::string ratio_name = "ratio";
  for (std::size_t a = 0; a < comparison.varied.size(); ++a) {
    if (comparison.varied[a] == ratio_name) {
      comparison.varied[a] = ratio_name = sweep.grid.axes[a].pointer;
    }
  }
  std::string_view lines = text;
  lines.remove_prefix(lines.find('\n') + 1); // the header
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    comparison.rows.push_back(without_place(io::parse_json(lines.substr(0, end), ""), ratio_name));
    lines.remove_prefix(end + 1);
  }
  std::stable_sort(comparison.rows.begin(), comparison.rows.end(),
                   [](const io::Json& a, const io::Json& b) { return time_of(a) < time_of(b); });
  const double best = comparison.rows.empty() ? HUGE_VAL : time_of(comparison.rows.front());
  for (io::Json& row : comparison.rows) {
    const double time = time_of(row);
    row.set("ratio", time < HUGE_VAL && best > 0 ? io::Json(time / best) : io::Json());
  }
  return comparison;
}

} // namespace stepsim::study
