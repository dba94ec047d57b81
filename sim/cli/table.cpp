#include "cli/table.hpp"

#include <algorithm>
#include <cassert>

#include "base/number_text.hpp"
#include "base/printable.hpp"

namespace stepsim::cli {

namespace {

// Code points, not bytes.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

bool starts_with_letter(const std::string& text) {
  return !text.empty() &&
         ((text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z'));
}

} // namespace

std::string table_text(const Table& given) {
  Table table = given;
  for (std::string& heading : table.headings) {
    heading = base::printable(heading);
  }
  for (auto& row : table.rows) {
    std::ranges::transform(row, row.begin(), base::printable);
  }
  const std::size_t columns = table.headings.size();
  std::vector<std::size_t> widths(columns);
  std::vector<bool> words(columns, false);
  for (std::size_t i = 0; i < columns; ++i) {
    widths[i] = width(table.headings[i]);
    for (const auto& row : table.rows) {
      assert(row.size() == columns && "every row has a cell per heading");
      widths[i] = std::max(widths[i], width(row[i]));
      words[i] = words[i] || starts_with_letter(row[i]);
    }
  }
  std::string out;
  const auto append = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < columns; ++i) {
      const std::size_t blanks = widths[i] - width(row[i]);
      out.append(i == 0 ? 0 : 2, ' ');
      out.append(words[i] ? 0 : blanks, ' ').append(row[i]);
      out.append(words[i] ? blanks : 0, ' ');
    }
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  };
  append(table.headings);
  for (const auto& row : table.rows) {
    append(row);
  }
  return out;
}

std::string cell(std::optional<double> value) {
  return value ? base::significant(*value) : std::string("-");
}

std::string milliseconds_cell(std::optional<double> seconds) {
  return seconds ? base::significant(*seconds * 1e3) : std::string("-");
}

std::string percent_cell(std::optional<double> ratio) {
  return ratio ? base::significant(*ratio * 100) + " %" : std::string("-");
}

} // namespace stepsim::cli
