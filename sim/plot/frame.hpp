#pragma once
// The parts of a drawn figure, which svg.cpp puts together: frame, bars, timelines, curves, legend.
//
// The position of a panel in the picture: the rectangle of its axes, and the mapping of its values
// to pixels. Data keep kInset pixels from the left, right and upper border, so that markers and
// thick lines remain inside.

#include "plot/ticks.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace stepsim::plot {

// Writes SVG elements as text, in one pass. Coordinates are pixels, rounded to a tenth, with y
// downwards. Text is escaped. The width of text is estimated for a wide sans-serif font, so that
// other fonts fit, too.

inline constexpr double kFontSize = 12, kLineHeight = 15;

struct TextLook {
  std::string_view anchor = "start"; // start, middle, end
  std::string_view color = "#000";
  bool bold = false;
  double turned = 0; // rotation around the anchor, degrees clockwise
  bool halo = false; // white outline of the letters, for text over lines
};

// Returns the width of a line of text in pixels, which is not less than a browser needs.
[[nodiscard]] double text_width(std::string_view text, bool bold = false);
// Breaks the text at blanks into lines of at most `width` pixels; a longer word gets its own line.
// An empty text has no lines.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, double width,
                                               bool bold = false);
// Returns the text with entities for the special characters of XML.
[[nodiscard]] std::string escaped(std::string_view text);
// Returns the number rounded to tenths, without trailing zeros.
[[nodiscard]] std::string pixels(double value);

class Canvas {
public:
  void text(double x, double y, std::string_view words, const TextLook& look = {});
  // `look` of a line, a rectangle and a path is a list of attributes such as fill="#fff", written
  // as it is. `hover`, if not empty, becomes a <title> element.
  void line(double x1, double y1, double x2, double y2, std::string_view look);
  void rectangle(double x, double y, double width, double height, std::string_view look,
                 std::string_view hover = {});
  void path(std::string_view data, std::string_view look);
  void raw(std::string_view element) { out_.append(element); } // written as it is
  [[nodiscard]] std::string take() && { return std::move(out_); }

private:
  std::string out_;
};

struct Frame {
  double left{}, top{}, right{}, bottom{}; // rectangle of the axes, px
  AxisRange x, y;

  static constexpr double kInset = 7;
  [[nodiscard]] double width() const { return right - left; }
  [[nodiscard]] double height() const { return bottom - top; }
  [[nodiscard]] double x_of(double value) const {
    return left + kInset + x.share(value) * (width() - 2 * kInset);
  }
  // The low end of the y axis lies on the lower border, even if it is not 0.
  [[nodiscard]] double y_of(double value) const {
    return bottom - y.share(value) * (height() - kInset);
  }
};

// Draws groups of bars and the names under them.

// Returns the height in pixels of the names under the bars, in a panel of `width` pixels.
[[nodiscard]] double bar_names_height(const Bars& bars, double width);
void draw_bars(Canvas& canvas, const Bars& bars, const Frame& frame);

// Draws a timeline: the lanes of a panel (figure.hpp) with their spans, the first lane on top.

// Returns the width of the longest lane name in pixels; the names stand to the left of the frame.
[[nodiscard]] double lane_names_width(const Lanes& lanes);
void draw_lanes(Canvas& canvas, const Lanes& lanes, const Frame& frame);

// Draws the curves, bands, guides, reported points and marks of a panel.

inline constexpr std::size_t kMostPoints = 400; // maximum number of points drawn of one curve

// Returns at most kMostPoints of the points, in order: the first, the last and, of each group of
// neighbouring points between them, the two with the least and the greatest y.
[[nodiscard]] std::vector<Point> thinned(const std::vector<Point>& points);

[[nodiscard]] std::string stroke_attributes(std::size_t rank, bool bold);

// `id` is the beginning of the names of the figure's markers.
void draw_curves(Canvas& canvas, const Panel& panel, const Frame& frame, std::string_view id);

// The legend: rows of handles and labels above the axes. A handle is four em long, so that a dash
// shows. Equal entries of several panels are shown once, entries without a label not at all.

struct LegendEntry {
  enum class Kind { curve, reported, band, guide, part, reported_part };
  Kind kind{};
  std::string label;
  std::size_t rank{};
  bool bold{}, markers{}, line{};
  bool operator==(const LegendEntry&) const = default;
};

[[nodiscard]] std::vector<LegendEntry> legend_entries(const Figure& figure);

// Draws the entries from (left, top) downwards and returns the height of the legend. All numbers
// are pixels; `id` is as in draw_curves().
[[nodiscard]] double draw_legend(Canvas& canvas, const std::vector<LegendEntry>& entries,
                                 std::string_view id, double left, double top, double width);

// The ranges of values that the axes of a figure have to cover, and the check that they can.

struct Extent {
  double least = 0, greatest = 0;
  bool empty = true;
  void add(double value);
};

struct Extents {
  Extent x, y;
  void add(const Panel& panel);
};

// Throws InputError{figure.file, row} for a value that its axis cannot show: 0 or less on a
// logarithmic scale, infinity or NaN. The axis is the panel's own if it has one, else the figure's.
void require_values(const Figure& figure);

} // namespace stepsim::plot
