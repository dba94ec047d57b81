#pragma once
// Draws groups of bars and the names under them.
#include "plot/canvas.hpp"
#include "plot/figure.hpp"
#include "plot/frame.hpp"

namespace stepsim::plot {

// Returns the height in pixels of the names under the bars, in a panel of `width` pixels.
[[nodiscard]] double bar_names_height(const Bars& bars, double width);
void draw_bars(Canvas& canvas, const Bars& bars, const Frame& frame);

} // namespace stepsim::plot
