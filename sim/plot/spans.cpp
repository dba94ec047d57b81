#include "plot/frame.hpp"

#include "plot/colours.hpp"

namespace stepsim::plot {

namespace {

constexpr double kPartOfLane = 0.72, kMostHigh = 36; // of a lane that its spans take; px

// Neighbours of one part and without a word of their own that lie within half a pixel are drawn as
// one, so that thousands of spans stay a small picture.
std::vector<Span> joined(const std::vector<Span>& spans, const Frame& frame) {
  std::vector<Span> out;
  for (const Span& span : spans) {
    constexpr double kDistance = 0.5;
    if (!out.empty() && span.part == out.back().part && span.text.empty() &&
        out.back().text.empty() && span.start >= out.back().start &&
        frame.x_of(span.end) - frame.x_of(out.back().end) < kDistance) {
      out.back().end = std::max(out.back().end, span.end);
    } else {
      out.push_back(span);
    }
  }
  return out;
}

// Black or white, whichever is readable on the fill of the part.
std::string_view text_color(std::size_t part) { return part >= 2 ? "#000" : "#fff"; }

} // namespace

double lane_names_width(const Lanes& lanes) {
  return base::greatest<double>(lanes.lanes, 0,
                                [](const Lane& lane) { return text_width(lane.name); });
}

void draw_lanes(Canvas& canvas, const Lanes& lanes, const Frame& frame) {
  const double place =
      frame.height() / static_cast<double>(std::max<std::size_t>(lanes.lanes.size(), 1));
  double top = frame.top;
  for (const Lane& lane : lanes.lanes) {
    canvas.text(frame.left - 6, top + place / 2 + 4, lane.name, {.anchor = "end"});
    const double height = std::min(place * kPartOfLane, kMostHigh);
    for (const Span& span : joined(lane.spans, frame)) {
      const double left = frame.x_of(span.start);
      const double width = frame.x_of(span.end) - left;
      const double at = top + (place - height) / 2;
      constexpr double kWithBorder = 3; // a border would hide what is thinner
      const std::string border = width > kWithBorder ? R"( stroke="#fff" stroke-width=".5")" : "";
      canvas.rectangle(left, at, std::max(width, 0.3), height,
                       fill_attributes(span.part, false) + border, span.hover);
      if (!span.text.empty() && text_width(span.text) + 4 <= width && height >= kLineHeight) {
        canvas.text(left + width / 2, at + height / 2 + 4, span.text,
                    {.anchor = "middle", .color = text_color(span.part)});
      }
    }
    top += place;
  }
}

} // namespace stepsim::plot
