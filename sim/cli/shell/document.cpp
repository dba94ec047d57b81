// Every format is made of the same parts of a document; records and tables are laid out here and in
// table.cpp.
#include "cli/shell/document.hpp"

#include <iterator>
#include <set>

#include "cli/shell/output.hpp"
#include "document/csv.hpp"
#include "document/json_text.hpp"
#include "study/sweep/rows.hpp"

namespace stepsim::cli {

namespace {

std::string csv_cell(const io::Json& value) {
  std::string cell;
  if (!value.is_null()) {
    io::append_csv_cell(cell, value.is_string() ? value.as_string() : io::compact(value));
  }
  return cell;
}

} // namespace

std::string jsonl_text(const io::Array& records) {
  std::string text;
  for (const io::Json& record : records) {
    io::append_compact(text, record);
    text += '\n';
  }
  return text;
}

io::Array chosen_keys(io::Array records, std::span<const std::string> kept,
                      std::span<const std::string> columns) {
  if (columns.empty()) {
    return records;
  }
  std::set<std::string_view> known;
  bool all_failed = true;
  for (const io::Json& record : records) {
    bool failed = false;
    for (const auto& [key, value] : record.as_object()) {
      known.insert(key);
      failed = failed || (key == "error" && !value.is_null());
    }
    all_failed = all_failed && failed;
  }
  std::vector<std::string_view> order(kept.begin(), kept.end());
  for (const std::string& column : columns) {
    if (!all_failed && !known.contains(column)) {
      const std::vector<std::string_view> keys(known.begin(), known.end());
      throw UsageError("--columns: " + base::unknown_word("figure", column, keys));
    }
    if (std::ranges::find(order, column) == order.end()) {
      order.insert(std::ranges::find(order, "error"), column);
    }
  }
  io::Array chosen;
  for (const io::Json& record : records) {
    io::Object some;
    for (const std::string_view key : order) {
      if (const io::Json* value = record.find(key)) {
        some.emplace_back(key, *value);
      }
    }
    chosen.emplace_back(std::move(some));
  }
  return chosen;
}

std::string csv_text(const io::Array& records, bool sorted) {
  std::vector<std::string> columns;
  for (const io::Json& record : records) {
    for (const auto& [key, value] : record.as_object()) {
      if (std::ranges::find(columns, key) == columns.end()) {
        columns.push_back(key);
      }
    }
  }
  if (sorted) {
    std::ranges::sort(columns);
  }
  std::string out = base::listed(columns, {}, ",") + "\n";
  for (const io::Json& record : records) {
    bool first = true;
    for (const std::string& column : columns) {
      const io::Json* value = record.find(column);
      out += first ? "" : ",";
      out += value == nullptr ? std::string() : csv_cell(*value);
      first = false;
    }
    out += '\n';
  }
  return out;
}

namespace {

// Rows are what a list of columns chooses from, CSV consists of and pages show, unless the text of
// the document is a page.
void require_rows(const Document& document, const Common& common, Format format, Format fallback) {
  const bool is_page = fallback == Format::html || fallback == Format::svg;
  const bool shows_tables =
      format == Format::html || format == Format::markdown || format == Format::svg;
  const bool columns = !common.columns.empty();
  if (columns && format == Format::json) {
    throw UsageError("--columns: JSON has every key; give --format csv, jsonl or table");
  }
  if (!document.records &&
      (columns || format == Format::csv || (shows_tables && !document.tables && !is_page))) {
    throw UsageError((columns ? "--columns" : asked_format(common)) +
                     ": this answer has no rows; --format json and table write it");
  }
}

} // namespace

std::string rendered(const Document& document, const Common& common, Format fallback) {
  const Format format = format_of(common, fallback);
  require_rows(document, common, format, fallback);
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
    return csv_text(records(), common.columns.empty());
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
    add_column(table, column.heading, records,
               [&](const io::Json& record) { return cell_of(record, column); });
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
