#pragma once
// Comma- or tab-separated text (RFC 4180): quoted fields may hold separators, line ends and
// doubled quotes; lines that start with '#' and empty lines are skipped; CRLF and a byte order
// mark are accepted.

#include "document/json.hpp"

namespace stepsim::io {

struct CsvRow {
  std::int64_t line{}; // line of the file in which the row starts, from 1
  std::vector<std::string> fields;
};

// The rows of `text`; `file` is its name for error messages. The separator is a tab if the first
// row has tabs and no comma, else a comma. Throws InputError if a quoted field is not closed, or if
// text follows its closing quote.
[[nodiscard]] std::vector<CsvRow> parse_csv(std::string_view text, const std::string& file);

// The parts of a text between separators, without quotes; an empty text has one empty part.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator = ',');

// Whether a spreadsheet would compute the text: it begins with =, @, + or - and is no number.
[[nodiscard]] bool is_formula(std::string_view text);
// Appends a field, in quotes if it holds a comma, a quote or a line end, and behind an apostrophe
// if it is a formula. Line ends and tabs are kept; other control characters are escaped
// (base/printable.hpp).
void append_csv_cell(std::string& out, std::string_view text);

// The columns of a record: the members of nested objects have keys joined by "_", lists are left
// out.
[[nodiscard]] Object flattened(const Json& record);

} // namespace stepsim::io
