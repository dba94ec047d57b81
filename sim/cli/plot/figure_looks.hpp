#pragma once
// How curves of a figure look: the scale of an axis, the look of each curve, and lines that several
// curves share.
#include <string>
#include <utility>
#include <vector>

#include "plot/figure.hpp"

namespace stepsim::cli {

// log2 for powers of two on x, log10 where the greatest value is 50 times the least, else linear.
[[nodiscard]] plot::Scale scale_for(std::vector<double> values, bool of_x);

// Adds a line, unless one with the same points is there: curves whose workers are alike share one.
void add_guide(std::vector<plot::Guide>& guides, plot::Guide guide);

// Gives every curve its rank. Schedules, which the labels still name, keep their look in all
// figures, whatever else is drawn; others take the looks that are left, in their order.
void choose_looks(std::vector<plot::Curve>& curves);

} // namespace stepsim::cli
