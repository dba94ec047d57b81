#pragma once
// SVG elements as text, in one pass. Coordinates are pixels with y downwards, kept to a tenth; text
// is escaped and measured without a font: widths are those of a wide sans-serif, so that other
// fonts fit as well.
#include <string>
#include <string_view>
#include <vector>

namespace stepsim::plot {

inline constexpr double kFontSize = 12, kLineHeight = 15;

struct TextLook {
  std::string_view anchor = "start"; // start, middle, end
  std::string_view color = "#000";
  bool bold = false;
  double turned = 0; // degrees clockwise around the anchor
  bool halo = false; // white around the letters, for text over lines
};

// Length of a line of text, at least what a browser takes.
[[nodiscard]] double text_width(std::string_view text, bool bold = false);
// Lines of at most `width` pixels, broken at blanks; a longer word has a line of its own.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, double width,
                                               bool bold = false);
[[nodiscard]] std::string escaped(std::string_view text);
// Tenths of a pixel, shortest form.
[[nodiscard]] std::string pixels(double value);

class Canvas {
public:
  void text(double x, double y, std::string_view words, const TextLook& look = {});
  void line(double x1, double y1, double x2, double y2, std::string_view look);
  // `look`: attributes such as fill="#fff". `hover` is a <title> inside.
  void rectangle(double x, double y, double width, double height, std::string_view look,
                 std::string_view hover = {});
  void path(std::string_view data, std::string_view look);
  void raw(std::string_view element) { out_.append(element); }
  [[nodiscard]] std::string take() && { return std::move(out_); }

private:
  std::string out_;
};

} // namespace stepsim::plot
