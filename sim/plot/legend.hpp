#pragma once
// The legend: rows of handles and labels above the axes. A handle is four em long, so that a dash
// shows. Panels that say the same share an entry.
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

// Draws from (left, top) downwards and gives the height it took.
[[nodiscard]] double draw_legend(Canvas& canvas, const std::vector<LegendEntry>& entries,
                                 std::string_view id, double left, double top, double width);

} // namespace stepsim::plot
