#pragma once
// A figure as SVG text: 640 x 400 px, sans-serif 12, the same bytes for the same figure. Curves are
// told apart in grey by lightness, dash and marker; a curve of more than 400 points is thinned,
// which keeps its least and greatest y. Text is escaped; nothing is drawn outside the axes.
#include <string>
#include <string_view>

#include "plot/figure.hpp"

namespace stepsim::plot {

// Throws InputError{figure.file, row} for a value that an axis cannot show: 0 or less on a
// logarithmic scale, infinities and no numbers. Asserts the limits that figure.hpp names.
[[nodiscard]] std::string svg(const Figure& figure);

// The same as an element of an HTML page: it takes the width of the page, has no XML namespace, and
// `id` (unique in the page, letters and digits) stands before the names it defines.
[[nodiscard]] std::string inline_svg(const Figure& figure, std::string_view id);

} // namespace stepsim::plot
