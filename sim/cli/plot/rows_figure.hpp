#pragma once
// Rows as a figure: which keys stand on the axes, which rows make one curve, what is marked.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/plot/plot_rows.hpp"
#include "plot/figure.hpp"

namespace stepsim::cli {

using KeyValue = std::pair<std::string, std::string>;

struct PlotRequest {
  std::string x, y, by;        // keys of the rows; by "" = one curve
  std::vector<KeyValue> where; // rows with these values only
  // Rows with this value instead, whose y gives a band about the first curve: 5th to 95th
  // percentile at every x.
  std::optional<KeyValue> band;
  std::vector<KeyValue> labels; // of curves, by the value of `by`
  bool ideal{}, knee{};
  std::optional<plot::Scale> x_scale, y_scale;              // empty: chosen from the values
  std::string title, setting, x_title, y_title, band_label; // "" = made from the keys
};

struct RowsFigure {
  plot::Figure figure;
  std::optional<plot::Point> knee; // of the first curve, in the units of the axes
};

// A key whose values are texts stands on x as bars. More than five curves become small panels with
// shared axes. Throws UsageError for a key that no row has, for rows that share an x, for a knee
// without doublings.
[[nodiscard]] RowsFigure rows_figure(const PlotRows& rows, const PlotRequest& request,
                                     const std::string& file);

} // namespace stepsim::cli
