#include "plot/frame.hpp"

#include "base/error.hpp"
#include "base/printable.hpp"
#include "base/quantity.hpp"
#include "plot/colours.hpp"

#include <cmath>
#include <numeric>

namespace stepsim::plot {

namespace {

// Calls visit(of_x, value, row, label) for every value that has a place on an axis of the panel.
template <class Visit> void for_each_value(const Panel& panel, const Visit& visit) {
  const auto points = [&](const auto& list) {
    for (const auto& each : list) {
      for (const Point& point : each.points) {
        visit(true, point.x, point.row, each.label);
        visit(false, point.y, point.row, each.label);
      }
    }
  };
  points(panel.curves);
  points(panel.reported);
  points(panel.guides);
  for (const Band& band : panel.bands) {
    for (const Band::At& at : band.points) {
      visit(true, at.x, at.row, band.label);
      visit(false, at.low, at.row, band.label);
      visit(false, at.high, at.row, band.label);
    }
  }
  for (const Mark& mark : panel.marks) {
    visit(mark.kind == Mark::Kind::vertical, mark.at, 0, mark.text);
  }
  for (const BarGroup& group : panel.bars.groups) {
    for (const Bar& bar : group.bars) {
      visit(false, std::accumulate(bar.values.begin(), bar.values.end(), 0.0), bar.row, group.name);
    }
  }
  for (const Lane& lane : panel.lanes.lanes) {
    for (const Span& span : lane.spans) {
      visit(true, span.start, 0, lane.name);
      visit(true, span.end, 0, lane.name);
    }
  }
}

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

// Widths in em of DejaVu Sans, the widest of the usual fonts, by classes.
double letter_width(char letter) {
  constexpr std::string_view kNarrow = "fijlrtI.,:;'!|()[]/- ";
  constexpr std::string_view kWide = "mwMW%@=+<>_~";
  if (kNarrow.find(letter) != std::string_view::npos) {
    return 0.39;
  }
  if (kWide.find(letter) != std::string_view::npos) {
    return 0.95;
  }
  return letter >= 'A' && letter <= 'Z' ? 0.73 : 0.63;
}

std::string attribute(std::string_view name, std::string_view value) {
  return std::string(" ").append(name).append("=\"").append(value).append("\"");
}

} // namespace

void Extent::add(double value) {
  least = empty ? value : std::min(least, value);
  greatest = empty ? value : std::max(greatest, value);
  empty = false;
}

void Extents::add(const Panel& panel) {
  for_each_value(panel, [&](bool of_x, double value, std::size_t, const std::string&) {
    (of_x ? x : y).add(value);
  });
}

void require_values(const Figure& figure) {
  for (const Panel& panel : figure.panels) {
    for_each_value(panel, [&](bool of_x, double value, std::size_t row, const std::string& label) {
      const std::optional<Axis>& own = of_x ? panel.x : panel.y;
      const Axis& axis = own ? *own : of_x ? figure.x : figure.y;
      const bool linear = axis.scale == Scale::linear;
      if (!std::isfinite(value) || (!linear && value <= 0)) {
        throw InputError(figure.file, row > 0 ? std::to_string(row) : "",
                         (label.empty() ? "" : label + ": ") + axis.title +
                             (linear ? " must be a finite number, got "
                                     : " must be > 0 on a logarithmic axis, got ") +
                             base::significant(value, 6));
      }
    });
  }
}

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

double text_width(std::string_view text, bool bold) {
  double width = 0;
  for (const char letter : text) {
    const bool continues = (static_cast<unsigned char>(letter) & 0xC0U) == 0x80U; // of UTF-8
    width += continues ? 0 : letter_width(letter);
  }
  return width * kFontSize * (bold ? 1.12 : 1);
}

std::vector<std::string> wrapped(std::string_view text, double width, bool bold) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, blank);
    if (!lines.empty() &&
        text_width(lines.back(), bold) + text_width(" ", bold) + text_width(word, bold) <= width) {
      lines.back().append(" ").append(word);
    } else if (!word.empty()) {
      lines.emplace_back(word);
    }
    text.remove_prefix(std::min(blank + 1, text.size()));
  }
  return lines;
}

std::string escaped(std::string_view text) { return base::escaped_markup(base::printable(text)); }

std::string pixels(double value) { return base::shortest(std::round(value * 10) / 10 + 0.0); }

void Canvas::text(double x, double y, std::string_view words, const TextLook& look) {
  out_ += "<text" + attribute("x", pixels(x)) + attribute("y", pixels(y));
  if (look.anchor != "start") {
    out_ += attribute("text-anchor", look.anchor);
  }
  if (look.color != "#000") {
    out_ += attribute("fill", look.color);
  }
  if (look.bold) {
    out_ += attribute("font-weight", "bold");
  }
  if (look.turned != 0) {
    out_ += attribute("transform",
                      "rotate(" + pixels(look.turned) + " " + pixels(x) + " " + pixels(y) + ")");
  }
  if (look.halo) {
    out_ += R"( stroke="#fff" stroke-width="3" paint-order="stroke")";
  }
  out_ += ">" + escaped(words) + "</text>\n";
}

void Canvas::line(double x1, double y1, double x2, double y2, std::string_view look) {
  path("M" + pixels(x1) + " " + pixels(y1) + "L" + pixels(x2) + " " + pixels(y2), look);
}

void Canvas::rectangle(double x, double y, double width, double height, std::string_view look,
                       std::string_view hover) {
  out_ += "<rect" + attribute("x", pixels(x)) + attribute("y", pixels(y)) +
          attribute("width", pixels(width)) + attribute("height", pixels(height)) + " ";
  out_.append(look);
  out_ += hover.empty() ? "/>\n" : "><title>" + escaped(hover) + "</title></rect>\n";
}

void Canvas::path(std::string_view data, std::string_view look) {
  out_ += "<path" + attribute("d", data) + " ";
  out_.append(look).append("/>\n");
}

} // namespace stepsim::plot
