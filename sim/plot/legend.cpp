#include "plot/frame.hpp"

#include <algorithm>

#include "plot/colours.hpp"

namespace stepsim::plot {

namespace {

constexpr double kHandle = 4 * kFontSize, kGap = 6, kEntryGap = 18, kRow = 17;

void draw_handle(Canvas& canvas, const LegendEntry& entry, std::string_view id, double x,
                 double y) {
  const std::string left = pixels(x);
  const std::string middle = pixels(x + kHandle / 2);
  switch (entry.kind) {
  case LegendEntry::Kind::curve:
    if (entry.line) {
      canvas.line(x, y, x + kHandle, y, stroke_attributes(entry.rank, entry.bold));
    }
    if (entry.markers) {
      canvas.path("M" + middle + " " + pixels(y) + "h0",
                  "fill=\"none\"" + marker_attributes(id, entry.rank, false));
    }
    break;
  case LegendEntry::Kind::reported:
    canvas.path("M" + middle + " " + pixels(y) + "h0",
                "fill=\"none\"" + marker_attributes(id, entry.rank, true));
    break;
  case LegendEntry::Kind::band:
    canvas.rectangle(x, y - 5, kHandle, 10, fill_of("band"));
    break;
  case LegendEntry::Kind::guide:
    canvas.line(x, y, x + kHandle, y, R"(fill="none" )" + stroke_of("guide"));
    break;
  case LegendEntry::Kind::part:
    canvas.rectangle(x, y - 5, kHandle, 10, fill_attributes(entry.rank, false));
    break;
  case LegendEntry::Kind::reported_part:
    canvas.rectangle(x, y - 5, kHandle, 10, R"(fill="#fff" stroke="#000")");
    break;
  }
}

} // namespace

std::vector<LegendEntry> legend_entries(const Figure& figure) {
  std::vector<LegendEntry> entries;
  const auto add = [&](LegendEntry entry) {
    if (!entry.label.empty() && std::ranges::find(entries, entry) == entries.end()) {
      entries.push_back(std::move(entry));
    }
  };
  using Kind = LegendEntry::Kind;
  for (const Panel& panel : figure.panels) {
    for (const Curve& curve : panel.curves) {
      add({Kind::curve, curve.label, curve.rank, curve.bold, curve.markers, curve.line});
    }
    for (const std::vector<std::string>* parts : {&panel.bars.parts, &panel.lanes.parts}) {
      for (std::size_t rank = 0; rank < parts->size(); ++rank) {
        add({Kind::part, (*parts)[rank], rank, false, false});
      }
    }
    add({Kind::reported_part, panel.bars.reported_label, 0, false, false});
  }
  for (const Panel& panel : figure.panels) {
    for (const Reported& reported : panel.reported) {
      add({Kind::reported, reported.label, reported.rank, false, false});
    }
    for (const Band& band : panel.bands) {
      add({Kind::band, band.label, 0, false, false});
    }
    for (const Guide& guide : panel.guides) {
      add({Kind::guide, guide.label, 0, false, false});
    }
  }
  return entries;
}

double draw_legend(Canvas& canvas, const std::vector<LegendEntry>& entries, std::string_view id,
                   double left, double top, double width) {
  if (entries.empty()) {
    return 0;
  }
  double x = left;
  double y = top;
  for (const LegendEntry& entry : entries) {
    const double label = text_width(entry.label);
    if (x > left && x + kHandle + kGap + label > left + width) {
      x = left;
      y += kRow;
    }
    draw_handle(canvas, entry, id, x, y + kRow / 2);
    canvas.text(x + kHandle + kGap, y + kRow / 2 + 4, entry.label);
    x += kHandle + kGap + label + kEntryGap;
  }
  return y + kRow - top;
}

} // namespace stepsim::plot
