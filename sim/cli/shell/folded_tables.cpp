#include "cli/shell/output.hpp"

namespace stepsim::cli {

namespace {

using TextLines = std::span<const std::string_view>;

std::size_t widest(TextLines lines) {
  return std::ranges::max(lines, {}, &std::string_view::size).size();
}

// Where the columns of a table begin, and its width at the end.
std::vector<std::size_t> column_starts(TextLines lines) {
  std::vector<std::size_t> starts{0};
  const std::size_t width = widest(lines);
  std::size_t blanks = 0;
  for (std::size_t i = 0; i < width; ++i) {
    const bool blank = std::ranges::all_of(
        lines, [i](std::string_view line) { return i >= line.size() || line[i] == ' '; });
    if (!blank && blanks >= 2) {
      starts.push_back(i);
    }
    blanks = blank ? blanks + 1 : 0;
  }
  starts.push_back(width);
  return starts;
}

void append_folded(TextLines lines, std::size_t columns, std::string& out) {
  const std::vector<std::size_t> starts = column_starts(lines);
  const std::size_t count = starts.size() - 1;
  for (std::size_t first = 1; first < count;) {
    std::size_t last = first + 1;
    while (last < count && starts[1] + starts[last + 1] - starts[first] <= columns) {
      ++last;
    }
    out += first == 1 ? "" : "\n";
    for (const std::string_view line : lines) {
      std::string row(line.substr(0, starts[1]));
      row.resize(starts[1], ' ');
      if (starts[first] < line.size()) {
        row += line.substr(starts[first], starts[last] - starts[first]);
      }
      row.erase(row.find_last_not_of(' ') + 1);
      out += row + "\n";
    }
    first = last;
  }
}

} // namespace

// A line above a table, its caption, has no columns: it is left as it is, and so is text.
std::string folded_tables(std::string_view text, std::size_t columns) {
  std::string out;
  while (!text.empty()) {
    std::vector<std::string_view> lines;
    while (!text.empty() && (lines.empty() || text.front() != '\n')) {
      lines.push_back(text.substr(0, text.find('\n')));
      text.remove_prefix(std::min(text.size(), lines.back().size() + 1));
      if (lines.front().empty()) {
        break;
      }
    }
    constexpr std::size_t kLeastColumns = 3;
    TextLines table(lines);
    const auto is_table = [&] {
      return table.size() > 1 && column_starts(table).size() > kLeastColumns;
    };
    if (widest(table) > columns && !is_table()) {
      out += std::string(table.front()) + "\n";
      table = table.subspan(1);
    }
    if (!table.empty() && widest(table) > columns && is_table()) {
      append_folded(table, columns, out);
      continue;
    }
    for (const std::string_view line : table) {
      out += std::string(line) + "\n";
    }
  }
  return out;
}

} // namespace stepsim::cli
