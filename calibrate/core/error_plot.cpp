#include "calibrate/core/error_plot.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include "base/number_text.hpp"
#include "base/quantity.hpp"

namespace stepsim::calibrate {

namespace {

// Okabe and Ito: told apart with any colour vision.
constexpr std::array<std::string_view, 8> kColors{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                  "#e69f00", "#56b4e9", "#000000", "#f0e442"};
constexpr double kSize = 400; // of the square, px
constexpr double kLeft = 70, kTop = 20, kLegend = 180, kBottom = 60;

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
    text(kLeft + kSize / 2, kTop + kSize + 40, "middle", "predicted");
    out_ += "<text transform=\"translate(14 " + number(kTop + kSize / 2) +
            ") rotate(-90)\" text-anchor=\"middle\">measured</text>\n";
  }

  void mark(const ErrorRow& row, std::string_view color) {
    out_ += "<circle cx=\"" + number(x(row.predicted_s)) + "\" cy=\"" + number(y(row.measured_s)) +
            "\" r=\"4\" fill=\"";
    out_.append(row.counts() ? color : "none").append("\" stroke=\"").append(color);
    out_ += "\"><title>" + escaped(row.op + " " + row.algorithm) +
            " P=" + std::to_string(row.ranks) + " " + std::to_string(row.bytes) +
            " B: " + base::significant(100 * row.relative_error(), 3) + " %</title></circle>\n";
  }

  void legend(std::size_t place, std::string_view name, std::string_view color) {
    const double at = kTop + 10 + 20 * static_cast<double>(place);
    out_ += "<circle cx=\"" + number(kLeft + kSize + 20) + "\" cy=\"" + number(at) +
            "\" r=\"4\" fill=\"";
    out_.append(color).append("\"/>\n");
    text(kLeft + kSize + 30, at + 4, "start", name);
  }

  [[nodiscard]] std::string finished() && { return std::move(out_) + "</svg>\n"; }

private:
  [[nodiscard]] double share(double seconds) const {
    return (std::log10(seconds) - low_) / (high_ - low_);
  }
  [[nodiscard]] double x(double seconds) const { return kLeft + kSize * share(seconds); }
  [[nodiscard]] double y(double seconds) const { return kTop + kSize * (1 - share(seconds)); }
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
    plot.mark(row, kColors[static_cast<std::size_t>(found - algorithms.begin()) % kColors.size()]);
  }
  for (std::size_t i = 0; i < algorithms.size(); ++i) {
    plot.legend(i, algorithms[i], kColors[i % kColors.size()]);
  }
  return std::move(plot).finished();
}

} // namespace stepsim::calibrate
