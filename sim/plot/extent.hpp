#pragma once
// What the axes of a figure have to cover, and the check that they can.
#include <span>

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

// Throws InputError as svg() says it. A panel is checked against its own axes where it has some.
void require_values(const Figure& figure);

} // namespace stepsim::plot
