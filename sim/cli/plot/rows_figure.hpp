#pragma once
// Makes a figure from rows: chooses axes, curves and marks.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/plot/plot_rows.hpp"
#include "plot/figure.hpp"

namespace stepsim::cli {

struct PlotRequest {
  std::string x, y, by;        // keys of the rows; by "" = one curve
  std::vector<KeyValue> where; // only rows with these values
  // The 5th to 95th percentile of y at every x, over the rows with this value, is a band around the
  // first curve; with `by`, only rows of this curve count. `where` applies to them
  // but for the key of the band; it must leave these rows out of the curves.
  std::optional<KeyValue> band;
  std::vector<KeyValue> labels; // labels of curves, [value of `by`]
  // Whether to draw the line of ideal scaling from one worker, and to mark the knee of the first
  // curve of each panel.
  bool ideal{}, knee{};
  std::optional<plot::Scale> x_scale, y_scale;              // empty: chosen from the values
  std::string title, setting, x_title, y_title, band_label; // "" = made from the keys
};

struct RowsFigure {
  plot::Figure figure;
  // Knee of each curve in the order of panels, in the units of the axes; empty without --knee.
  std::vector<std::optional<plot::Point>> knees;
};

// If the values of x are texts, the figure has bars. More than five curves become small panels with
// shared axes. Throws InputError if no row is left, and UsageError for a key that no row has, for
// more than 12 curves (bars: 5), for two rows of a curve with the same x, and for a knee without
// the smallest x and its double.
[[nodiscard]] RowsFigure rows_figure(const PlotRows& rows, const PlotRequest& request,
                                     const std::string& file);

} // namespace stepsim::cli
