#include "plot/colours.hpp"

#include <algorithm>
#include <cassert>
#include <span>

namespace stepsim::plot {

namespace {

constexpr std::size_t kPageColours = 6; // the last rows
constexpr auto kOfPages = std::span(kColours).last<kPageColours>();
constexpr auto kOfDrawings = std::span(kColours).first<kColours.size() - kPageColours>();
static_assert(kOfPages.front().name == "ink");

std::string variables(std::string_view Colour::*theme) {
  std::string out = "  :root {";
  for (const Colour& each : kOfPages) {
    out.append(" --").append(each.name).append(": ").append(each.*theme).append(";");
  }
  return out + " }\n";
}

} // namespace

const Colour& colour(std::string_view name) {
  const auto* found = std::ranges::find(kColours, name, &Colour::name);
  assert(found != kColours.end() && "the table has the colour");
  return *found;
}

std::string fill_of(std::string_view name) {
  return std::string("fill=\"").append(colour(name).light).append("\"");
}
std::string stroke_of(std::string_view name) {
  return std::string("stroke=\"").append(colour(name).light).append("\"");
}

std::string theme_style() {
  std::string out = ":root { color-scheme: light dark; }\n" + variables(&Colour::light) +
                    "@media screen and (prefers-color-scheme: dark) {\n" + variables(&Colour::dark);
  for (const Colour& each : kOfDrawings) {
    for (const std::string_view key : {"fill", "stroke"}) {
      out.append("  svg [").append(key).append("=\"").append(each.light).append("\"] { ");
      out.append(key).append(": ").append(each.dark).append("; }\n");
    }
  }
  return out.append("  svg text:not([fill]) { fill: ").append(kColours[4].dark) + "; }\n}\n";
}

} // namespace stepsim::plot
