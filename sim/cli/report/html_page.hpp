#pragma once
// An HTML page in one file that loads nothing and has no scripts: the style is inside, and a
// content security policy forbids everything else. It has light and dark colours and is readable on
// a telephone and on A4 paper. All text is escaped here.
#include <span>
#include <string>
#include <string_view>

#include "cli/shell/table.hpp"
#include "plot/figure.hpp"

namespace stepsim::cli {

class HtmlPage {
public:
  explicit HtmlPage(std::string_view title);

  void heading(std::string_view text);                               // heading of a section
  void paragraph(std::string_view text, std::string_view kind = ""); // kind: "answer", "grey"
  void list(std::span<const std::string> entries);
  void table(const Table& table);
  void figure(const plot::Figure& figure, std::string_view id); // `id`: unique in the page
  // A section that is closed until the reader opens it.
  void open_details(std::string_view summary);
  void close_details();
  void text(std::string_view lines); // preformatted, fixed width
  // A link that saves `content`, a JSON text, as a file `name`.
  void download(std::string_view label, std::string_view name, std::string_view content);

  [[nodiscard]] std::string finished() &&;

private:
  std::string out_;
};

} // namespace stepsim::cli
