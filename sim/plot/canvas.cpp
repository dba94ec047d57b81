#include "plot/canvas.hpp"

#include <cmath>

#include "base/printable.hpp"
#include "base/quantity.hpp"

namespace stepsim::plot {

namespace {

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
