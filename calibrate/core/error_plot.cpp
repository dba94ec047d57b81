// Both axes are logarithmic and have the same decades, so that the diagonal is agreement. Rows that
// do not count are drawn hollow.
#include "calibrate/core/error_plot.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include "base/number_text.hpp"
#include "base/quantity.hpp"

namespace stepsim::calibrate {

namespace {

// How the marks of one algorithm look: the colours of Okabe and Ito are told apart with any colour
// vision, the shapes (SVG paths around 0, 0) in print without colour as well.
struct Look {
  std::string_view color, shape;
};
constexpr std::array<Look, 8> kLooks{{{"#0072b2", "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z"},
                                      {"#d55e00", "M-3.5-3.5h7v7h-7z"},
                                      {"#009e73", "M0-4.5L4.3 3.5h-8.6z"},
                                      {"#cc79a7", "M0-5L4.5 0L0 5L-4.5 0z"},
                                      {"#e69f00", "M0 4.5L4.3-3.5h-8.6z"},
                                      {"#56b4e9", "M-1.5-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z"},
                                      {"#000000", "M-4.5 0L3.5-4.3v8.6z"},
                                      {"#f0e442", "M4.5 0L-3.5-4.3v8.6z"}}};
constexpr double kSize = 400; // of the square, px
constexpr double kLeft = 70, kTop = 20, kLegend = 180, kBottom = 60;

// Tenths of a pixel are enough, and keep the file short.
std::string number(double value) { return base::shortest(std::round(value * 10) / 10); }

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    default:
      out += c;
    }
  }
  return out;
}

// Builds the SVG in one pass; coordinates are pixels, with y downwards.
class Plot {
public:
  explicit Plot(std::span<const ErrorRow> rows) {
    double least = rows.front().measured_s;
    double most = least;
    for (const ErrorRow& row : rows) {
      least = std::min({least, row.measured_s, row.predicted_s});
      most = std::max({most, row.measured_s, row.predicted_s});
    }
    low_ = static_cast<int>(std::floor(std::log10(least)));
    high_ = std::max(low_ + 1, static_cast<int>(std::ceil(std::log10(most))));
    out_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(kLeft + kSize + kLegend) +
           "\" height=\"" + number(kTop + kSize + kBottom) +
           "\" font-family=\"sans-serif\" font-size=\"12\">\n"
           "<title>measured over predicted time</title>\n"
           "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
  }

  void axes() {
    for (int decade = low_; decade <= high_; ++decade) {
      const double at = std::pow(10.0, decade);
      line(x(at), kTop, x(at), kTop + kSize, "#ddd");
      line(kLeft, y(at), kLeft + kSize, y(at), "#ddd");
      const std::string label = base::readable_seconds(at);
      text(x(at), kTop + kSize + 16, "middle", label);
      text(kLeft - 6, y(at) + 4, "end", label);
    }
    const double first = std::pow(10.0, low_);
    const double last = std::pow(10.0, high_);
    line(x(first), y(first), x(last), y(last), "#888");
    text(kLeft + kSize / 2, kTop + kSize + 40, "middle", "predicted time");
    out_ += "<text transform=\"translate(14 " + number(kTop + kSize / 2) +
            ") rotate(-90)\" text-anchor=\"middle\">measured time</text>\n";
  }

  void mark(const ErrorRow& row, const Look& look) {
    shape(x(row.predicted_s), y(row.measured_s), look, row.counts());
    out_ += "<title>" + escaped(row.op + " " + row.algorithm) + " P=" + std::to_string(row.ranks) +
            " " + std::to_string(row.bytes) +
            " B: " + base::significant(100 * row.relative_error(), 3) + " %</title></path>\n";
  }

  void legend(std::size_t place, std::string_view name, const Look& look, bool filled = true) {
    const double at = kTop + 10 + 20 * static_cast<double>(place);
    shape(kLeft + kSize + 20, at, look, filled);
    out_ += "</path>\n";
    text(kLeft + kSize + 30, at + 4, "start", name);
  }

  [[nodiscard]] std::string finished() && { return std::move(out_) + "</svg>\n"; }

private:
  [[nodiscard]] double share(double seconds) const {
    return (std::log10(seconds) - low_) / (high_ - low_);
  }
  [[nodiscard]] double x(double seconds) const { return kLeft + kSize * share(seconds); }
  [[nodiscard]] double y(double seconds) const { return kTop + kSize * (1 - share(seconds)); }
  // An element that stays open for a title.
  void shape(double at_x, double at_y, const Look& look, bool filled) {
    out_ += "<path transform=\"translate(" + number(at_x) + " " + number(at_y) + ")\" d=\"";
    out_.append(look.shape).append("\" fill=\"").append(filled ? look.color : "none");
    out_.append("\" stroke=\"").append(look.color).append("\">");
  }
  void line(double x1, double y1, double x2, double y2, std::string_view color) {
    out_ += "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) +
            "\" y2=\"" + number(y2) + "\" stroke=\"";
    out_.append(color).append("\"/>\n");
  }
  void text(double at_x, double at_y, std::string_view anchor, std::string_view words) {
    out_ += "<text x=\"" + number(at_x) + "\" y=\"" + number(at_y) + "\" text-anchor=\"";
    out_.append(anchor).append("\">").append(escaped(words)).append("</text>\n");
  }

  std::string out_;
  int low_{}, high_{}; // decades
};

} // namespace

// With more than eight algorithms looks repeat; the title of each mark still names its algorithm.
std::string error_plot(std::span<const ErrorRow> rows) {
  assert(!rows.empty() && "a plot shows something");
  Plot plot(rows);
  plot.axes();
  std::vector<std::string> algorithms;
  for (const ErrorRow& row : rows) {
    auto found = std::ranges::find(algorithms, row.algorithm);
    if (found == algorithms.end()) {
      found = algorithms.insert(algorithms.end(), row.algorithm);
    }
    plot.mark(row, kLooks[static_cast<std::size_t>(found - algorithms.begin()) % kLooks.size()]);
  }
  for (std::size_t i = 0; i < algorithms.size(); ++i) {
    plot.legend(i, algorithms[i], kLooks[i % kLooks.size()]);
  }
  if (!std::ranges::all_of(rows, &ErrorRow::counts)) {
    plot.legend(algorithms.size(), "open: start-up, not counted", kLooks.front(), false);
  }
  return std::move(plot).finished();
}

} // namespace stepsim::calibrate
