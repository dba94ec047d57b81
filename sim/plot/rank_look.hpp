#pragma once
// How the curves, parts and markers of a rank look: lightness L* 25, 45, 62, 78 and black, a dash
// and a marker of its own each, so that they are told apart in print without colour.
#include <cstddef>
#include <string>
#include <string_view>

namespace stepsim::plot {

struct RankLook {
  std::string_view color;
  std::string_view dash;   // stroke-dasharray, "" = solid
  std::string_view marker; // SVG path around 0, 0
};
[[nodiscard]] const RankLook& rank_look(std::size_t rank); // below kRanks (asserted)

// The marker definitions of a figure, filled and hollow; `id` begins their names.
[[nodiscard]] std::string marker_definitions(std::string_view id);
// ` marker-start="url(#idm0)" ..` for every vertex of a path.
[[nodiscard]] std::string marker_attributes(std::string_view id, std::size_t rank, bool hollow);

// Fill of a bar or span; hollow ones have a white inside.
[[nodiscard]] std::string fill_attributes(std::size_t rank, bool hollow);

} // namespace stepsim::plot
