#pragma once
// The legend: rows of handles and labels above the axes. A handle is four em long, so that a dash
// shows. Equal entries of several panels are shown once, entries without a label not at all.
#include <string>
#include <string_view>
#include <vector>

#include "plot/canvas.hpp"
#include "plot/figure.hpp"

namespace stepsim::plot {

struct LegendEntry {
  enum class Kind { curve, reported, band, guide, part, reported_part };
  Kind kind{};
  std::string label;
  std::size_t rank{};
  bool bold{}, markers{}, line{};
  bool operator==(const LegendEntry&) const = default;
};

[[nodiscard]] std::vector<LegendEntry> legend_entries(const Figure& figure);

// Draws the entries from (left, top) downwards and returns the height of the legend. All numbers
// are pixels; `id` is as in draw_curves().
[[nodiscard]] double draw_legend(Canvas& canvas, const std::vector<LegendEntry>& entries,
                                 std::string_view id, double left, double top, double width);

} // namespace stepsim::plot
