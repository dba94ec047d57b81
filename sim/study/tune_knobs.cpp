#include "study/tune_values.hpp"

#include "run/figure_key.hpp"

namespace stepsim::study {

// A point is a record of a sweep with its value put beside it, since a record knows its field by
// name only.

TunePoint tune_point(io::Json record, io::Json value) {
  const std::optional<double> time = number_in(record, kIterationTime);
  std::string error = error_in(record);
  return {std::move(value), time, std::move(record), std::move(error)};
}

std::vector<TunePoint> run_points(const io::Json& scenario, const std::string& pointer,
                                  const std::vector<io::Json>& values, Files& files,
                                  const SweepOptions& options, std::vector<std::string>& warnings) {
  std::vector<TunePoint> points;
  if (values.empty()) {
    return points;
  }
  Rows rows = rows_of(sweep_over(scenario, {{pointer, values}}), files, options);
  for (std::size_t i = 0; i < values.size(); ++i) {
    points.push_back(tune_point(std::move(rows.records[i]), values[i]));
  }
  append_each_once(warnings, rows.warnings);
  return points;
}

} // namespace stepsim::study
