#pragma once
// The colours of everything that is drawn, and the things that have a colour of their own. This is
// the one table: drawings and pages in C++ use it, and web/make_page.py and the notebooks read its
// rows as text, so a row stays on one line.
//
// On a dark page the lightness of a colour is turned round, so that text in a bar, which is the
// paper's colour or the ink's, can be read on both.
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace stepsim::plot {

struct Colour {
  std::string_view name;
  std::string_view light, dark; // "#rrggbb"
};

// clang-format off
inline constexpr std::array kColours{
    // of curves, bars and spans, by rank (figure.hpp); the last is that of axes and text, too
    Colour{"rank 0", "#07387e", "#9fc2f7"},
    Colour{"rank 1", "#c92f10", "#ff8b6e"},
    Colour{"rank 2", "#13aa84", "#0a7a5e"},
    Colour{"rank 3", "#efb93a", "#8f6500"},
    Colour{"rank 4", "#000", "#e8e8e8"},
    // of a filled bar or span of rank 4
    Colour{"rest", "#dcdcdc", "#4a4a4a"},
    // of curves beyond the ranks, in notebooks
    Colour{"more 0", "#b06a9b", "#d79ac4"},
    Colour{"more 1", "#4aa3d8", "#7cc0ea"},
    // of drawings
    Colour{"band", "#d9d9d9", "#3d3d3d"},
    Colour{"guide", "#8c8c8c", "#9a9a9a"},
    Colour{"grid", "#e4e4e4", "#333333"},
    Colour{"note", "#595959", "#b0b0b0"},
    Colour{"mark", "#333", "#c8c8c8"},
    Colour{"sheet", "#fff", "#161616"},
    // of pages; grey and link are at least 4.5:1 against the paper
    Colour{"ink", "#1a1a1a", "#e8e8e8"},
    Colour{"paper", "#fff", "#161616"},
    Colour{"grey", "#595959", "#b0b0b0"},
    Colour{"line", "#c8c8c8", "#4a4a4a"},
    Colour{"link", "#0b4f8a", "#8ec5ff"},
    Colour{"wrong", "#a3121f", "#ff9d9d"},
};
// clang-format on

// What has the colour of a rank wherever it is shown.
struct Thing {
  std::string_view word;
  std::size_t rank;
};
// clang-format off
inline constexpr std::array kThings{
    // parts of a step; host, input and waits are "other"
    Thing{"forward", 0}, Thing{"backward", 1}, Thing{"communication", 2}, Thing{"update", 3}, Thing{"other", 4},
    // merge schedules
    Thing{"ddp", 0}, Thing{"optimal", 1}, Thing{"wfbp", 2}, Thing{"mg_wfbp", 3}, Thing{"single", 4},
};
// clang-format on

// The row of a name, which stands in the table (asserted).
[[nodiscard]] const Colour& colour(std::string_view name);

// Attributes of a shape and of a line in the light colour of a row: `fill="#d9d9d9"`.
[[nodiscard]] std::string fill_of(std::string_view name);
[[nodiscard]] std::string stroke_of(std::string_view name);

// The rank of a thing with a colour of its own; kThings.size() without.
[[nodiscard]] constexpr std::size_t rank_of(std::string_view word) {
  for (const Thing& each : kThings) {
    if (each.word == word) {
      return each.rank;
    }
  }
  return kThings.size();
}

// Rules of CSS: `--NAME: COLOUR` for the colours of pages, and drawings in the page repainted where
// the reader's theme is dark.
[[nodiscard]] std::string theme_style();

// The look of the curves, parts and markers of each rank (figure.hpp). Every rank has its own
// lightness (L* 25, 45, 62, 78, or black), dash and marker, so that ranks differ in print without
// colour.

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
