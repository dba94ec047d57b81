#pragma once
// The look of the curves, parts and markers of each rank (figure.hpp). Every rank has its own
// lightness (L* 25, 45, 62, 78, or black), dash and marker, so that ranks differ in print without
// colour.
#include <cstddef>
#include <string>
#include <string_view>

namespace stepsim::plot {

struct RankLook {
  std::string_view color;
  std::string_view dash;   // stroke-dasharray; empty for a solid line
  std::string_view marker; // SVG path around 0, 0
};
[[nodiscard]] const RankLook& rank_look(std::size_t rank); // rank < kRanks (asserted)

// The marker definitions of a figure, filled and hollow. Their names begin with `id`.
[[nodiscard]] std::string marker_definitions(std::string_view id);
// Attributes that draw the marker at every vertex of a path: ` marker-start="url(#idm0)" ..`.
[[nodiscard]] std::string marker_attributes(std::string_view id, std::size_t rank, bool hollow);

// The fill attributes of a bar or span; a hollow one is white inside. A filled one of the last rank
// is light grey: black is the colour of curves.
[[nodiscard]] std::string fill_attributes(std::size_t rank, bool hollow);

} // namespace stepsim::plot
