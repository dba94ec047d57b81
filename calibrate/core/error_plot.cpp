#include "calibrate/core/error_plot.hpp"

#include <algorithm>
#include <cassert>

#include "base/number_text.hpp"
#include "plot/svg.hpp"

namespace stepsim::calibrate {

namespace {

// The ends of all times: the line of equality goes from one to the other.
struct Ends {
  double least, most;

  explicit Ends(std::span<const ErrorRow> rows)
      : least(rows.front().measured_s), most(rows.front().measured_s) {
    for (const ErrorRow& row : rows) {
      least = std::min({least, row.measured_s, row.predicted_s});
      most = std::max({most, row.measured_s, row.predicted_s});
    }
  }
};

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

std::string error_plot(std::span<const ErrorRow> rows) {
  assert(!rows.empty() && "a plot shows something");
  std::vector<std::string> algorithms;
  for (const ErrorRow& row : rows) {
    if (std::ranges::find(algorithms, row.algorithm) == algorithms.end()) {
      algorithms.push_back(row.algorithm);
    }
  }
  const Ends ends(rows);
  const plot::Guide equal{"equal", {{ends.least, ends.least}, {ends.most, ends.most}}};
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
