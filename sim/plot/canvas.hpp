#pragma once
// Writes SVG elements as text, in one pass. Coordinates are pixels, rounded to a tenth, with y
// downwards. Text is escaped. The width of text is estimated for a wide sans-serif font, so that
// other fonts fit, too.
#include <string>
#include <string_view>
#include <vector>

namespace stepsim::plot {

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

} // namespace stepsim::plot
