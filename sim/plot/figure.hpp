#pragma once
// A figure as plain values: what it says and what it shows, not where it is in pixels. The title is
// a question, one grey line below it gives the setting, and a sentence in a box may stand under the
// axes. A figure has one panel, or several small ones that share its axes. svg.hpp draws it.
//
// Values are in the unit that the axis names (milliseconds if the unit is "ms"). They are finite,
// and above 0 on a logarithmic axis; svg() refuses others and names the row they came from.

#include "base/words.hpp"

#include <string>
#include <vector>

namespace stepsim::plot {

// log2: ticks at powers of two, written out. log10: ticks at 1, 2, 5 times powers of ten.
enum class Scale { linear, log2, log10 };
inline constexpr auto kScales = base::words<Scale>();

struct Axis {
  std::string title{}; // in words, "throughput"
  std::string unit{};  // "samples/s", after the title; ticks of "bytes" are in KiB, MiB or kB, MB
  Scale scale = Scale::linear;
  std::vector<double> ticks{}; // ascending; empty: chosen from the data
  // The axis reaches from at most `low` to at least `high`, even if the data do not. A linear axis
  // whose data begin near 0 begins at 0; any other linear axis carries a break mark.
  std::optional<double> low{}, high{};
};

struct Point {
  double x{}, y{};
  std::size_t row{}; // line of Figure::file that it came from; 0: none
};

// A line with markers. The rank, 0 to 4, decides lightness, dash and marker, so that a method looks
// alike in all panels and figures of a page.
struct Curve {
  std::string label{}; // curves of several panels with one label and rank share a row of the legend
  std::vector<Point> points{}; // in the order of x
  std::size_t rank{};
  bool bold{}; // the curve that the title speaks of
  bool markers = true;
  bool line = true; // false: markers alone
};
inline constexpr std::size_t kRanks = 5;

// Points that a publication reports, drawn as hollow markers without a line.
struct Reported {
  std::string label{}; // "reported (repository)"
  std::vector<Point> points{};
  std::size_t rank{}; // the marker has the form that curves of this rank have
};

// The area between two curves over the same x: an interval or a bound.
struct Band {
  struct At {
    double x{}, low{}, high{};
    std::size_t row{};
  };
  std::string label{};
  std::vector<At> points{}; // in the order of x
};

// A thin grey line: the ideal, a bound, equality.
struct Guide {
  std::string label{};
  std::vector<Point> points{}; // in the order of x
};

// The one thing a figure points at: the knee, a crossing, the value of a claim.
struct Mark {
  enum class Kind { vertical, horizontal };
  Kind kind = Kind::vertical;
  double at{};        // on x for a vertical line, on y for a horizontal one
  std::string text{}; // "knee: 128 GPUs, 68 %"
};

// Bars next to each other in named groups; a bar is a stack of the parts of Bars. A bar that shows
// a single part has 0 for the others.
struct Bar {
  std::string name{};           // under the bar; may be empty
  std::vector<double> values{}; // heights, one per part, >= 0
  bool reported{};              // a number that a publication reports; drawn hollow
  std::size_t row{};            // as in Point
};
struct BarGroup {
  std::string name{}; // under its bars
  std::vector<Bar> bars{};
};
struct Bars {
  std::vector<std::string> parts{}; // labels of the legend, at most kRanks
  std::vector<BarGroup> groups{};
  std::string reported_label{}; // "reported (repository)"; required if a bar is hollow
};

// Spans of time in named lanes, the first lane on top: a timeline. The y axis has no scale.
struct Span {
  double start{}, end{}; // on x, start <= end
  std::size_t part{};    // index in Lanes::parts
  std::string text{};    // written inside if it fits
  std::string hover{};   // shown by a browser when the pointer rests on the span
};
struct Lane {
  std::string name{};
  std::vector<Span> spans{};
};
struct Lanes {
  std::vector<std::string> parts{}; // labels of the legend, at most kRanks
  std::vector<Lane> lanes{};
};

// A panel shows curves, bars or lanes over axes. Of the x axis, bars use only the title; lanes use
// no y axis.
struct Panel {
  std::string title{};         // only where a figure has several panels
  std::vector<Curve> curves{}; // at most kRanks
  std::vector<Reported> reported{};
  std::vector<Band> bands{};
  std::vector<Guide> guides{};
  std::vector<Mark> marks{};
  Bars bars{};
  Lanes lanes{};
  std::optional<Axis> x{}, y{}; // axes of this panel; empty = those of the figure
};

struct Figure {
  std::string title{};   // a question, or the sentence that answers it
  std::string setting{}; // grey line below the title
  Axis x{}, y{};
  std::vector<Panel> panels{}; // at least one
  std::string box{};           // sentence in a frame; empty: no frame
  // Pixels. svg() keeps the height, so that a figure of a few lanes needs a smaller one.
  double height = 400;
  std::string file{}; // which file the rows of points belong to, for error messages
  double width = 640; // pixels; text keeps its size
};

// The knee of a throughput curve (REP 2): the largest N such that each doubling from the least x up
// to N raised the throughput by a factor of at least 1.6. Both ends of a doubling, N/2 and N, must
// be among the points.

inline constexpr double kKneeGain = 1.6;

// Returns the point of the knee, which is the first point if the first doubling gained less than
// kKneeGain. `points` must ascend in x; y is the throughput. Empty if no point has twice the first
// x.
[[nodiscard]] std::optional<Point> knee(std::span<const Point> points);

} // namespace stepsim::plot
