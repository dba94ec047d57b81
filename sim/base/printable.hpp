#pragma once
// Text of users (names, keys, paths, values) as it may stand in a message or a table. A name can
// hold anything: an escape sequence would colour or rewrite the terminal, a line break would make
// two lines of one error. Controls, line and paragraph separators, marks that turn the direction of
// writing and bytes that are not UTF-8 are replaced by escape sequences as in source code:
//     "a\x1b[31mb<line break>"   ->   a\x1b[31mb\n
#include <string>
#include <string_view>

namespace stepsim::base {

// One line: a line break becomes the two characters \n.
[[nodiscard]] std::string printable(std::string_view text);

// For text that is made of lines: line feeds stay, everything else is escaped as above.
[[nodiscard]] std::string printable_lines(std::string_view text);

// Text for HTML, SVG and XML: & < > and " by their names. Nothing else is escaped.
[[nodiscard]] std::string escaped_markup(std::string_view text);

// Length of the valid UTF-8 sequence at the start of `text`, 0 if invalid. `text` is not empty.
[[nodiscard]] std::size_t utf8_length(std::string_view text);

} // namespace stepsim::base
