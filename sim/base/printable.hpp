#pragma once
// Escapes text of users (names, keys, paths, values) for messages and tables. Such text can contain
// any bytes: a terminal escape sequence would change the terminal, and a line break would make two
// lines of one error. Control characters, line and paragraph separators, marks that change the
// direction of writing, and bytes that are not UTF-8 are replaced by escape sequences as in C++:
// the byte ESC becomes the four characters \x1b.
#include <string>
#include <string_view>

namespace stepsim::base {

// Escapes `text` for one line: a line feed becomes the two characters \n.
[[nodiscard]] std::string printable(std::string_view text);

// Escapes text of several lines: line feeds stay, everything else is escaped as by printable().
[[nodiscard]] std::string printable_lines(std::string_view text);

// Escapes text for HTML, SVG and XML: & < > and " become character references. Nothing else is
// escaped.
[[nodiscard]] std::string escaped_markup(std::string_view text);

// Escapes text for an address: what is neither an ASCII letter, nor a digit, nor one of `kept`
// becomes %XX.
[[nodiscard]] std::string percent_encoded(std::string_view text, std::string_view kept);

// Length of the valid UTF-8 sequence at the start of `text`, 0 if invalid. `text` is not empty.
[[nodiscard]] std::size_t utf8_length(std::string_view text);

} // namespace stepsim::base
