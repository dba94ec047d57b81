#pragma once
// The ranges of values that the axes of a figure have to cover, and the check that they can.

#include "plot/figure.hpp"

namespace stepsim::plot {

struct Extent {
  double least = 0, greatest = 0;
  bool empty = true;
  void add(double value);
};

struct Extents {
  Extent x, y;
  void add(const Panel& panel);
};

// Throws InputError{figure.file, row} for a value that its axis cannot show: 0 or less on a
// logarithmic scale, infinity or NaN. The axis is the panel's own if it has one, else the figure's.
void require_values(const Figure& figure);

} // namespace stepsim::plot
