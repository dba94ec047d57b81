#pragma once
// Draws the curves, bands, guides, reported points and marks of a panel.
#include <string>
#include <string_view>
#include <vector>

#include "plot/canvas.hpp"
#include "plot/figure.hpp"
#include "plot/frame.hpp"

namespace stepsim::plot {

inline constexpr std::size_t kMostPoints = 400; // maximum number of points drawn of one curve

// Returns at most kMostPoints of the points, in order: the first, the last and, of each group of
// neighbouring points between them, the two with the least and the greatest y.
[[nodiscard]] std::vector<Point> thinned(const std::vector<Point>& points);

[[nodiscard]] std::string stroke_attributes(std::size_t rank, bool bold);

// `id` is the beginning of the names of the figure's markers (rank_look.hpp).
void draw_curves(Canvas& canvas, const Panel& panel, const Frame& frame, std::string_view id);

} // namespace stepsim::plot
