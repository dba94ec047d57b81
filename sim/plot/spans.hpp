#pragma once
// Draws a timeline: the lanes of a panel (figure.hpp) with their spans, the first lane on top.
#include "plot/canvas.hpp"
#include "plot/figure.hpp"
#include "plot/frame.hpp"

namespace stepsim::plot {

// Returns the width of the longest lane name in pixels; the names stand to the left of the frame.
[[nodiscard]] double lane_names_width(const Lanes& lanes);
void draw_lanes(Canvas& canvas, const Lanes& lanes, const Frame& frame);

} // namespace stepsim::plot
