#include "import/sizes/size_files.hpp"

#include <algorithm>

#include "document/csv.hpp"

namespace stepsim::io {

namespace {

constexpr std::array<std::string_view, 3> kSizeColumns{"name", "elements", "dtype"};
constexpr std::int64_t kMostTableElements = std::int64_t{1} << 50;

} // namespace

SizeTable read_size_table(const std::string& path, std::uint64_t max_bytes) {
  const ImportedText input = read_import(path, max_bytes);
  const std::vector<CsvRow> rows = parse_csv(input.text, input.name);
  SizeTable table;
  table.file = input.name;
  table.source = input.file;
  const auto refuse = [&](const CsvRow& row, const std::string& message) {
    throw InputError(input.name, std::to_string(row.line), message);
  };
  std::array<std::optional<std::size_t>, kSizeColumns.size()> place;
  for (std::size_t i = 0; !rows.empty() && i < rows.front().fields.size(); ++i) {
    const std::string_view text = trimmed(rows.front().fields[i]);
    const auto column = std::ranges::find(kSizeColumns, text);
    if (column == kSizeColumns.end()) {
      refuse(rows.front(), "unknown column " + base::shown_value(text) +
                               base::did_you_mean(text, kSizeColumns) +
                               ": the header is name,elements[,dtype]");
    }
    auto& found = place[static_cast<std::size_t>(column - kSizeColumns.begin())];
    if (found) {
      refuse(rows.front(), "column " + std::string(text) + " is there twice");
    }
    found = i;
  }
  if (rows.empty() || !place[0] || !place[1]) {
    throw InputError(input.name, "1", "the header must be name,elements[,dtype]");
  }
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const CsvRow& row = rows[i];
    if (row.fields.size() != rows.front().fields.size()) {
      refuse(row, "expected " + std::to_string(rows.front().fields.size()) + " fields, got " +
                      std::to_string(row.fields.size()));
    }
    const std::string_view elements = trimmed(row.fields[*place[1]]);
    const auto count = parse_whole(elements);
    if (!count || *count < 1 || *count > kMostTableElements) {
      refuse(row,
             "elements: must be a whole number from 1 to 2^50, got " + base::shown_value(elements));
    }
    NamedSize size{std::string(trimmed(row.fields[*place[0]])), *count, ""};
    const std::string_view dtype = place[2] ? trimmed(row.fields[*place[2]]) : std::string_view();
    if (!dtype.empty()) {
      const auto word = dtype_of_pytorch(dtype);
      if (!word) {
        refuse(row, "dtype: unknown element type " + base::shown_value(dtype));
      }
      size.dtype = word->word;
    }
    table.rows.push_back(std::move(size));
  }
  if (table.rows.empty()) {
    throw InputError(input.name, "", "no rows behind the header");
  }
  return table;
}

} // namespace stepsim::io
