#include "cli/shell/document.hpp"

#include <optional>

#include "cli/shell/flat_records.hpp"
#include "cli/shell/output.hpp"
#include "document/json_text.hpp"
#include "study/sweep/rows.hpp"

namespace stepsim::cli {

std::string rendered(const Document& document, const Common& common, Format fallback) {
  const Format format = format_of(common, fallback);
  const auto records = [&] {
    return chosen_keys(document.records(), document.kept, common.columns);
  };
  if (!common.columns.empty()) {
    (void)records(); // every column exists
  }
  switch (format) {
  case Format::table:
  case Format::html:
  case Format::markdown:
  case Format::svg:
    return document.text && (format == Format::table || !document.tables)
               ? document.text()
               : tables_in(format, document.tables());
  case Format::csv:
    return csv_text(records());
  case Format::jsonl:
    if (document.lines || document.records) {
      return jsonl_text(document.lines ? document.lines() : records());
    }
    break;
  case Format::json:
    break;
  }
  const io::Json tree = document.tree();
  io::require_finite(tree);
  return format == Format::jsonl ? io::compact(tree) + "\n" : io::pretty(tree);
}

void write_document(const Common& common, const Document& document, Format fallback) {
  write_output(common, rendered(document, common, fallback));
  print_warnings(document.warnings, common);
}

std::vector<io::Object> records_in(const io::Json& tree, std::string_view key) {
  std::vector<io::Object> records;
  for (const io::Json& each : tree.find(key)->as_array()) {
    records.push_back(each.as_object());
  }
  return records;
}

std::string cell_of(const io::Json& record, const Column& column) {
  if (column.show != nullptr) {
    return column.show(record, column);
  }
  const auto number = study::number_in(record, column.key);
  return cell(number ? std::optional(*number * column.factor) : std::nullopt);
}

Table table_of(std::span<const io::Json> records, std::span<const Column> columns) {
  Table table;
  for (const Column& column : columns) {
    table.headings.push_back(column.heading);
  }
  for (const io::Json& record : records) {
    std::vector<std::string>& row = table.rows.emplace_back();
    for (const Column& column : columns) {
      row.push_back(cell_of(record, column));
    }
  }
  return table;
}

std::string in_full(const io::Json& record, const Column& column) {
  const io::Json* value = record.find(column.key);
  return value == nullptr || value->is_null() ? "-"
         : value->is_string()                 ? value->as_string()
                                              : io::compact(*value);
}

} // namespace stepsim::cli
