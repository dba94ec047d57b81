#pragma once
// Draws the spans of lanes: a timeline with the first lane on top.
#include "plot/canvas.hpp"
#include "plot/figure.hpp"
#include "plot/frame.hpp"

namespace stepsim::plot {

// Room that the names of the lanes take at the left.
[[nodiscard]] double lane_names_width(const Lanes& lanes);
void draw_lanes(Canvas& canvas, const Lanes& lanes, const Frame& frame);

} // namespace stepsim::plot
