#pragma once
// Draws a figure as SVG text in sans-serif 12 px. The same figure always gives the
// same bytes. Curves differ in lightness, dash and marker, so that they can be told apart in grey.
// A curve of more than 400 points is thinned; its least and greatest y are kept. Text is escaped,
// and nothing is drawn outside the axes.

#include "plot/figure.hpp"

namespace stepsim::plot {

// Returns the figure as an SVG file. Throws InputError{figure.file, row} for a value that an axis
// cannot show: 0 or less on a logarithmic scale, infinity or NaN. Asserts the limits in figure.hpp.
[[nodiscard]] std::string svg(const Figure& figure);

// Returns the figure as an element of an HTML page, with the width of the page and without XML
// namespace. The names that it defines begin with `id`, which must be unique in the page (letters
// and digits). Throws and asserts like svg().
[[nodiscard]] std::string inline_svg(const Figure& figure, std::string_view id);

} // namespace stepsim::plot
