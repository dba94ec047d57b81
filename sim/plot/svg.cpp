// From top to bottom: title, setting, legend, rows of panels, title of x, boxed sentence. What text
// needs is taken off the height of the panels. Panels in a grid show the labels of a shared axis at
// the left and below only.
#include "plot/svg.hpp"

#include <cassert>
#include <cmath>

#include "base/collected.hpp"
#include "plot/colours.hpp"
#include "plot/frame.hpp"

namespace stepsim::plot {

namespace {

constexpr double kMargin = 12;
constexpr std::string_view kAxisLook = R"(fill="none" stroke="#000")";

std::string axis_title(const Axis& axis) {
  const bool alone = axis.unit.empty() || axis.title.empty() || axis.unit == axis.title;
  return alone ? axis.title : axis.title + " (" + axis.unit + ")";
}

bool has_x_ticks(const Panel& panel) { return panel.bars.groups.empty(); }
bool has_y_ticks(const Panel& panel) { return panel.lanes.lanes.empty(); }

// Columns of a grid of panels.
std::size_t columns_of(std::size_t panels) {
  constexpr std::size_t kInOneRow = 3;
  if (panels <= kInOneRow) {
    return panels;
  }
  const std::size_t rows = panels <= 10 && panels != 9 ? 2 : (panels + 3) / 4;
  return (panels + rows - 1) / rows;
}

struct Label {
  double value{};
  std::string text;
};

// Ticks whose labels have room: every one, else every second, third, ..; of given ticks as many as
// fit from the greatest down.
template <class Overlap>
std::vector<Label> labels_that_fit(const std::vector<Label>& ticks, bool given, Overlap overlap) {
  if (given) {
    std::vector<Label> out;
    for (auto tick = ticks.rbegin(); tick != ticks.rend(); ++tick) {
      if (out.empty() || !overlap(*tick, out.back())) {
        out.push_back(*tick);
      }
    }
    return out;
  }
  for (std::size_t stride = 1;; ++stride) {
    std::vector<Label> out;
    bool fits = true;
    for (std::size_t i = 0; i < ticks.size(); i += stride) {
      fits = fits && (out.empty() || !overlap(out.back(), ticks[i]));
      out.push_back(ticks[i]);
    }
    if (fits || stride >= ticks.size()) {
      return out;
    }
  }
}

class Picture {
public:
  Picture(const Figure& figure, std::string_view id) : figure_(figure), id_(id) {
    assert(!figure.panels.empty() && "a figure has a panel");
    columns_ = columns_of(figure.panels.size());
    rows_ = (figure.panels.size() + columns_ - 1) / columns_;
    for (const Panel& panel : figure.panels) {
      assert(panel.curves.size() <= kRanks && "a panel has at most five curves");
      own_x_ = own_x_ || panel.x.has_value();
      own_y_ = own_y_ || panel.y.has_value();
      shared_.add(panel);
    }
  }

  std::string drawn(std::string_view head) && {
    canvas_.raw(head);
    canvas_.raw("<title>" + escaped(figure_.title) + "</title>\n" + marker_definitions(id_));
    canvas_.rectangle(0, 0, figure_.width, figure_.height, R"(fill="#fff")");
    draw_head();
    draw_box();
    draw_panels();
    canvas_.raw("</svg>\n");
    return std::move(canvas_).take();
  }

private:
  void draw_head() {
    for (const std::string& line : wrapped(figure_.title, figure_.width - 2 * kMargin, true)) {
      top_ += kLineHeight;
      canvas_.text(kMargin, top_, line, {.bold = true});
    }
    for (const std::string& line : wrapped(figure_.setting, figure_.width - 2 * kMargin)) {
      top_ += kLineHeight;
      canvas_.text(kMargin, top_, line, {.color = colour("note").light});
    }
    top_ += 6;
    top_ += draw_legend(canvas_, legend_entries(figure_), id_, kMargin, top_,
                        figure_.width - 2 * kMargin);
    top_ += 6;
  }

  void draw_box() {
    if (figure_.box.empty()) {
      return;
    }
    constexpr double kPadding = 5;
    const auto lines = wrapped(figure_.box, figure_.width - 2 * kMargin - 2 * kPadding);
    const double height = static_cast<double>(lines.size()) * kLineHeight + 2 * kPadding - 2;
    bottom_ -= height;
    canvas_.rectangle(kMargin, bottom_, figure_.width - 2 * kMargin, height,
                      R"(fill="#fff" stroke="#000")");
    double y = bottom_ + kPadding + 10;
    for (const std::string& line : lines) {
      canvas_.text(kMargin + kPadding, y, line);
      y += kLineHeight;
    }
    bottom_ -= 6;
  }

  [[nodiscard]] const Axis& x_axis(const Panel& panel) const {
    return panel.x ? *panel.x : figure_.x;
  }
  [[nodiscard]] const Axis& y_axis(const Panel& panel) const {
    return panel.y ? *panel.y : figure_.y;
  }

  // Of a panel's own data for an axis of its own, else of all panels.
  [[nodiscard]] AxisRange range_of(const Panel& panel, bool of_x) const {
    Extents own;
    own.add(panel);
    const Axis& axis = of_x ? x_axis(panel) : y_axis(panel);
    const bool separate = of_x ? panel.x.has_value() : panel.y.has_value();
    const Extents& extents = separate ? own : shared_;
    const Extent& extent = of_x ? extents.x : extents.y;
    if (!of_x && !panel.bars.groups.empty() && axis.scale == Scale::linear) {
      return axis_range(axis, std::min(0.0, extent.least), extent.greatest, true);
    }
    const double fallback = axis.scale == Scale::linear ? 0 : 1;
    return axis_range(axis, extent.empty ? fallback : extent.least,
                      extent.empty ? fallback : extent.greatest, !of_x);
  }

  [[nodiscard]] std::vector<Label> ticks_of(const Axis& axis, const AxisRange& range,
                                            double most) const {
    const std::vector<double> values = axis_ticks(axis, range, most);
    return base::collected<Label>(values, [&](double value) {
      return Label{value, tick_text(axis, value, values.back())};
    });
  }

  // Everything left of the axes: the title of y, its labels or the names of lanes.
  [[nodiscard]] double left_room(const Panel& panel, double height) const {
    double room = lane_names_width(panel.lanes);
    if (has_y_ticks(panel)) {
      for (const Label& label : ticks_of(y_axis(panel), range_of(panel, false), height / 30)) {
        room = std::max(room, text_width(label.text));
      }
    }
    return room + 10;
  }

  void draw_panels() {
    const bool titles = figure_.panels.size() > 1;
    const double width = (figure_.width - 2 * kMargin) / static_cast<double>(columns_);
    std::size_t title_lines = 0;
    for (const Panel& panel : figure_.panels) {
      title_lines = std::max(title_lines, titles ? wrapped(panel.title, width - 40).size() : 0);
    }
    const double title_room = static_cast<double>(title_lines) * kLineHeight + (titles ? 2 : 0);
    const double shared_x_title = own_x_ || figure_.x.title.empty() ? 0 : kLineHeight + 3;
    const double shared_y_title = own_y_ || axis_title(figure_.y).empty() ? 0 : kLineHeight + 2;
    // Of the names under bars.
    const double names = base::greatest<double>(figure_.panels, 0, [&](const Panel& panel) {
      return has_x_ticks(panel) ? kLineHeight + 3 : bar_names_height(panel.bars, width - 60);
    });
    const double own_x_title = own_x_ ? kLineHeight + 3 : 0;
    const auto below = [&](std::size_t row) { // under the axes of a row
      const bool last = row + 1 == rows_;
      const bool bars = std::ranges::any_of(figure_.panels,
                                            [](const Panel& panel) { return !has_x_ticks(panel); });
      return (last || own_x_ || bars ? names : 4) + own_x_title + (last ? 0 : 4);
    };
    double used = shared_x_title;
    for (std::size_t row = 0; row < rows_; ++row) {
      used += title_room + below(row);
    }
    const double height = (bottom_ - top_ - used) / static_cast<double>(rows_);

    // Rooms left of each column, then the same width for all axes.
    std::vector<double> rooms(columns_, 8);
    for (std::size_t i = 0; i < figure_.panels.size(); ++i) {
      if (i % columns_ == 0 || own_y_ || !has_y_ticks(figure_.panels[i])) {
        rooms[i % columns_] = std::max(rooms[i % columns_], left_room(figure_.panels[i], height) +
                                                                (own_y_ ? kLineHeight + 2 : 0));
      }
    }
    const double all_rooms = base::sum_of<double>(rooms);
    constexpr double kRight = 8; // for half a label
    const double axes_width = (figure_.width - 2 * kMargin - shared_y_title - all_rooms -
                               kRight * static_cast<double>(columns_)) /
                              static_cast<double>(columns_);
    double top = top_;
    for (std::size_t row = 0; row < rows_; ++row) {
      double left = kMargin + shared_y_title;
      for (std::size_t column = 0; column < columns_; ++column) {
        const std::size_t index = row * columns_ + column;
        left += rooms[column];
        if (index < figure_.panels.size()) {
          const Panel& panel = figure_.panels[index];
          const bool lowest = index + columns_ >= figure_.panels.size();
          const Frame frame{left,
                            top + title_room,
                            left + axes_width,
                            top + title_room + height,
                            range_of(panel, true),
                            range_of(panel, false)};
          draw_panel(panel, frame, lowest || own_x_, column == 0 || own_y_, rooms[column]);
          if (titles) {
            draw_panel_title(panel, left + axes_width / 2, top, axes_width + rooms[column]);
          }
        }
        left += axes_width + kRight;
      }
      top += title_room + height + below(row);
    }
    if (!own_x_ && !figure_.x.title.empty()) {
      canvas_.text(kMargin + shared_y_title + rooms[0] +
                       (figure_.width - 2 * kMargin - shared_y_title - rooms[0]) / 2,
                   bottom_ - 3, axis_title(figure_.x), {.anchor = "middle"});
    }
    if (shared_y_title > 0) {
      canvas_.text(kMargin + 10, (top_ + title_room + top - below(rows_ - 1)) / 2,
                   axis_title(figure_.y), {.anchor = "middle", .turned = -90});
    }
  }

  void draw_panel_title(const Panel& panel, double middle, double top, double width) {
    double y = top + 11;
    for (const std::string& line : wrapped(panel.title, width)) {
      canvas_.text(middle, y, line, {.anchor = "middle"});
      y += kLineHeight;
    }
  }

  void draw_panel(const Panel& panel, const Frame& frame, bool x_labels, bool y_labels,
                  double room) {
    canvas_.raw("<g class=\"panel\">\n");
    if (has_y_ticks(panel)) {
      draw_y_axis(panel, frame, y_labels, room);
    }
    if (has_x_ticks(panel)) {
      draw_x_axis(panel, frame, x_labels);
    }
    draw_bars(canvas_, panel.bars, frame);
    draw_lanes(canvas_, panel.lanes, frame);
    canvas_.rectangle(frame.left, frame.top, frame.width(), frame.height(), kAxisLook);
    draw_breaks(panel, frame);
    draw_curves(canvas_, panel, frame, id_);
    if (own_x_ && !x_axis(panel).title.empty()) {
      canvas_.text((frame.left + frame.right) / 2, frame.bottom + 2 * kLineHeight,
                   axis_title(x_axis(panel)), {.anchor = "middle"});
    }
    canvas_.raw("</g>\n");
  }

  void draw_y_axis(const Panel& panel, const Frame& frame, bool labels, double room) {
    const Axis& axis = y_axis(panel);
    constexpr double kPerTick = 30;
    const auto ticks = ticks_of(axis, frame.y, frame.height() / kPerTick);
    for (const Label& tick : ticks) {
      const double y = frame.y_of(tick.value);
      canvas_.line(frame.left, y, frame.right, y, stroke_of("grid"));
      canvas_.line(frame.left - 3, y, frame.left, y, kAxisLook);
    }
    if (!labels) {
      return;
    }
    const auto overlap = [&](const Label& a, const Label& b) {
      return std::abs(frame.y_of(a.value) - frame.y_of(b.value)) < kLineHeight - 1;
    };
    for (const Label& label : labels_that_fit(ticks, !axis.ticks.empty(), overlap)) {
      canvas_.text(frame.left - 6, frame.y_of(label.value) + 4, label.text, {.anchor = "end"});
    }
    if (own_y_) {
      canvas_.text(frame.left - room + 10, (frame.top + frame.bottom) / 2, axis_title(axis),
                   {.anchor = "middle", .turned = -90});
    }
  }

  void draw_x_axis(const Panel& panel, const Frame& frame, bool labels) {
    const Axis& axis = x_axis(panel);
    constexpr double kPerTick = 45;
    const auto ticks = ticks_of(axis, frame.x, frame.width() / kPerTick);
    for (const Label& tick : ticks) {
      const double x = frame.x_of(tick.value);
      canvas_.line(x, frame.top, x, frame.bottom, stroke_of("grid"));
      canvas_.line(x, frame.bottom, x, frame.bottom + 3, kAxisLook);
    }
    if (!labels) {
      return;
    }
    const auto overlap = [&](const Label& a, const Label& b) { // a is left of b
      constexpr double kBetween = 6;
      return frame.x_of(a.value) + text_width(a.text) / 2 + kBetween >
             frame.x_of(b.value) - text_width(b.text) / 2;
    };
    for (const Label& label : labels_that_fit(ticks, !axis.ticks.empty(), overlap)) {
      canvas_.text(frame.x_of(label.value), frame.bottom + 15, label.text, {.anchor = "middle"});
    }
  }

  // Two short strokes across an axis that does not begin at 0.
  void draw_breaks(const Panel& panel, const Frame& frame) {
    const auto strokes = [&](const std::string& at, std::string_view step) {
      canvas_.path("M" + at + "l5 -6" + std::string(step) + "l5 -6",
                   R"(class="break" fill="none" stroke="#000" stroke-width="1.2")");
    };
    if (has_y_ticks(panel) && frame.y.broken()) {
      strokes(pixels(frame.left - 2.5) + " " + pixels(frame.bottom - 10), "m-5 9");
    }
    if (has_x_ticks(panel) && frame.x.broken()) {
      strokes(pixels(frame.left + 16) + " " + pixels(frame.bottom + 3), "m-1 6");
    }
  }

  const Figure& figure_;
  std::string_view id_;
  Canvas canvas_;
  Extents shared_;
  std::size_t columns_{}, rows_{};
  bool own_x_{}, own_y_{}; // some panel has axes of its own: all show theirs
  double top_ = 4, bottom_ = figure_.height - 6;
};

} // namespace

std::string svg(const Figure& figure) {
  require_values(figure);
  const std::string width = pixels(figure.width);
  const std::string height = pixels(figure.height);
  return Picture(figure, "")
      .drawn("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width + "\" height=\"" +
             height + "\" viewBox=\"0 0 " + width + " " + height +
             "\" font-family=\"sans-serif\" font-size=\"12\" role=\"img\">\n");
}

std::string inline_svg(const Figure& figure, std::string_view id) {
  require_values(figure);
  const std::string width = pixels(figure.width);
  return Picture(figure, id)
      .drawn("<svg viewBox=\"0 0 " + width + " " + pixels(figure.height) + "\" width=\"" + width +
             "\" font-family=\"sans-serif\" font-size=\"12\" role=\"img\">\n");
}

} // namespace stepsim::plot
