#include "plot/colours.hpp"

#include <cassert>

#include "plot/figure.hpp"

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

constexpr std::array<RankLook, kRanks> kLooks{
    {{kColours[0].light, "", "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z"},
     {kColours[1].light, "9 4", "M-3.5-3.5h7v7h-7z"},
     {kColours[2].light, "2 3", "M0-4.8L4.4 3.2h-8.8z"},
     {kColours[3].light, "12 3 3 3", "M0-5L5 0L0 5L-5 0z"},
     {kColours[4].light, "5 2 1 2 1 2", "M-4-4L4 4M-4 4L4-4"}}};

std::string marker_name(std::string_view id, std::size_t rank, bool hollow) {
  return std::string(id).append(hollow ? "h" : "m").append(std::to_string(rank));
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

const RankLook& rank_look(std::size_t rank) {
  assert(rank < kRanks && "a figure has five looks");
  return kLooks[rank];
}

std::string marker_definitions(std::string_view id) {
  std::string out = "<defs>\n";
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    for (const bool hollow : {false, true}) {
      const RankLook& look = kLooks[rank];
      const bool open = rank + 1 == kRanks; // a cross has no inside
      out += "<marker id=\"" + marker_name(id, rank, hollow) +
             "\" viewBox=\"-6 -6 12 12\" markerWidth=\"12\" markerHeight=\"12\" "
             "markerUnits=\"userSpaceOnUse\"><path d=\"";
      out.append(look.marker).append("\" fill=\"");
      out.append(open ? "none" : hollow ? "#fff" : look.color).append("\" stroke=\"");
      out.append(look.color).append(hollow || open ? "\" stroke-width=\"1.5\"" : "\"");
      out += "/></marker>\n";
    }
  }
  return out + "</defs>\n";
}

std::string marker_attributes(std::string_view id, std::size_t rank, bool hollow) {
  std::string out;
  for (const std::string_view place : {"start", "mid", "end"}) {
    out.append(" marker-").append(place).append("=\"url(#");
    out.append(marker_name(id, rank, hollow)).append(")\"");
  }
  return out;
}

std::string fill_attributes(std::size_t rank, bool hollow) {
  const std::string color(rank + 1 == kRanks && !hollow ? colour("rest").light
                                                        : rank_look(rank).color);
  return hollow ? R"(fill="#fff" stroke-width="1.5" stroke=")" + color + "\""
                : "fill=\"" + color + "\"";
}

} // namespace stepsim::plot
