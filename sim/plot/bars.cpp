// A group takes the same width per bar, and half a bar lies between groups. Names that do not fit
// under their bars are turned.
#include "plot/frame.hpp"

#include <cmath>
#include <numbers>

#include "plot/colours.hpp"

namespace stepsim::plot {

namespace {

constexpr double kTurned = -35, kBetweenGroups = 0.7; // of a bar's place
constexpr double kUsed = 0.86;                        // of its place that a bar takes

// Where bars stand: each has a place of `place` pixels.
struct Places {
  double place{};

  Places(const Bars& bars, double width) {
    double places = 0;
    for (const BarGroup& group : bars.groups) {
      places += static_cast<double>(group.bars.size()) + kBetweenGroups;
    }
    place = width / std::max(places, 1.0);
  }
};

// Lines of a name in the room; empty where a word is wider than the room.
std::vector<std::string> name_lines(const std::string& name, double room) {
  std::vector<std::string> lines = wrapped(name, room);
  const bool fits =
      std::ranges::all_of(lines, [&](const std::string& line) { return text_width(line) <= room; });
  return fits && lines.size() <= 3 ? lines : std::vector<std::string>{};
}

// Names under one row of bars or groups: in lines if all of them fit, else turned.
struct NameRow {
  bool turned{};
  double height{};

  void add(const std::string& name, double room) {
    const std::vector<std::string> lines = name_lines(name, room - 4);
    if (name.empty()) {
      return;
    }
    if (lines.empty()) {
      turned = true;
    }
    lines_ = std::max(lines_, static_cast<double>(lines.size()) * kLineHeight);
    longest_ = std::max(longest_, text_width(name));
    height = turned ? longest_ * std::sin(-kTurned * std::numbers::pi / 180) + kLineHeight : lines_;
  }
  void draw(Canvas& canvas, const std::string& name, double middle, double room, double top) const {
    if (turned) {
      canvas.text(middle + 4, top + 10, name, {.anchor = "end", .turned = kTurned});
      return;
    }
    for (const std::string& line : name_lines(name, room - 4)) {
      canvas.text(middle, top + 11, line, {.anchor = "middle"});
      top += kLineHeight;
    }
  }

private:
  double lines_{}, longest_{};
};

struct NameRows {
  NameRow bars, groups;

  NameRows(const Bars& all, double place) {
    for (const BarGroup& group : all.groups) {
      for (const Bar& bar : group.bars) {
        bars.add(bar.name, place);
      }
      groups.add(group.name, place * (static_cast<double>(group.bars.size()) + kBetweenGroups));
    }
  }
};

void draw_bar(Canvas& canvas, const Bar& bar, const Frame& frame, double left, double width) {
  double sum = 0;
  for (std::size_t part = 0; part < bar.values.size(); ++part) {
    const double from = sum > 0 ? frame.y_of(sum) : frame.bottom;
    sum += bar.values[part];
    const double to = sum > 0 ? frame.y_of(sum) : frame.bottom;
    if (bar.values[part] > 0) {
      canvas.rectangle(left, to, width, from - to, fill_attributes(part, bar.reported));
    }
  }
}

} // namespace

double bar_names_height(const Bars& bars, double width) {
  const NameRows rows(bars, Places(bars, width).place);
  return rows.bars.height + rows.groups.height + 3;
}

void draw_bars(Canvas& canvas, const Bars& bars, const Frame& frame) {
  const double place = Places(bars, frame.width()).place;
  const NameRows rows(bars, place);
  double x = frame.left + place * kBetweenGroups / 2;
  for (const BarGroup& group : bars.groups) {
    const double width = place * static_cast<double>(group.bars.size());
    rows.groups.draw(canvas, group.name, x + width / 2, width + place * kBetweenGroups,
                     frame.bottom + 3 + rows.bars.height);
    for (const Bar& bar : group.bars) {
      draw_bar(canvas, bar, frame, x + place * (1 - kUsed) / 2, place * kUsed);
      rows.bars.draw(canvas, bar.name, x + place / 2, place, frame.bottom + 3);
      x += place;
    }
    x += place * kBetweenGroups;
  }
}

} // namespace stepsim::plot
