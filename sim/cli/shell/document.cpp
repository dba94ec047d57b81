// Every format is made of the same parts of a document; records and tables are laid out here and in
// document.cpp.

#include "cli/shell/document.hpp"

#include "base/printable.hpp"
#include "cli/shell/output.hpp"
#include "document/csv.hpp"
#include "document/json_text.hpp"
#include "study/sweep/rows.hpp"

namespace stepsim::cli {

namespace {

// The same cells are laid out for each format: widths for the terminal, tags for HTML, bars for
// Markdown. A column of words is aligned to the left and one of numbers to the right.

// Code points, not bytes.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

bool starts_with_letter(const std::string& text) { // or as a JSON pointer does
  return !text.empty() && ((text[0] >= 'a' && text[0] <= 'z') ||
                           (text[0] >= 'A' && text[0] <= 'Z') || text[0] == '/');
}

std::string escaped_markdown(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += std::string_view("|\\<*_`").find(c) == std::string_view::npos ? "" : "\\";
    out += c;
  }
  return out;
}

std::vector<bool> columns_of_words(const Table& table) {
  std::vector<bool> words(table.headings.size(), table.left);
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      words[i] = words[i] || starts_with_letter(row[i]);
    }
  }
  return words;
}

std::string table_markdown(const Table& table) {
  const std::vector<bool> words = columns_of_words(table);
  std::string out = table.caption.empty() ? "" : escaped_markdown(table.caption) + "\n\n";
  const auto append = [&](const std::vector<std::string>& row) {
    for (const std::string& text : row) {
      out += "| " + escaped_markdown(text) + (text.empty() ? "" : " ");
    }
    out += "|\n";
  };
  append(table.headings);
  for (const bool word : words) {
    out += word ? "|:---" : "|---:";
  }
  out += "|\n";
  for (const auto& row : table.rows) {
    append(row);
  }
  return out;
}

constexpr std::string_view kPage =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<title>stepsim</title>\n<style>\n"
    "body { font-family: sans-serif; margin: 2em; }\n"
    "table { border-collapse: collapse; margin-bottom: 2em; }\n"
    "caption { text-align: left; padding: 0.3em 0.7em; }\n"
    "th, td { border: 1px solid #bbb; padding: 0.3em 0.7em; text-align: right; }\n"
    ".word { text-align: left; }\n"
    "</style>\n</head>\n<body>\n";

// JSON Lines: one compact record per line.
std::string jsonl_text(const io::Array& records) {
  std::string text;
  for (const io::Json& record : records) {
    io::append_compact(text, record);
    text += '\n';
  }
  return text;
}

// The records with the keys `kept` and `columns` only, in this order but for `error`, which is
// last; all keys if `columns` is empty. Throws UsageError for a column that no record has, unless
// every record has an `error`.
io::Array chosen_keys(io::Array records, std::span<const std::string> kept,
                      std::span<const std::string> columns) {
  if (columns.empty()) {
    return records;
  }
  std::set<std::string_view> known;
  for (const io::Json& record : records) {
    for (const auto& [key, value] : record.as_object()) {
      known.insert(key);
    }
  }
  const bool all_failed = std::ranges::all_of(
      records, [](const io::Json& record) { return !study::error_in(record).empty(); });
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

std::vector<std::string> listed_on_page(const Document& document) {
  std::vector<std::string> lines = document.notes;
  lines.insert(lines.end(), document.warnings.begin(), document.warnings.end());
  return lines;
}

} // namespace

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
    for (const std::string& column : columns) {
      out += &column == &columns.front() ? "" : ",";
      if (const io::Json* value = record.find(column); value != nullptr && !value->is_null()) {
        io::append_csv_cell(out, plain_cell(*value));
      }
    }
    out += '\n';
  }
  return out;
}

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
               : tables_in(format, document.tables(), listed_on_page(document));
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

int write_document(const Common& common, const Document& document, Format fallback) {
  write_output(common, rendered(document, common, fallback));
  print_warnings(document.warnings, common);
  return kOk;
}

std::string cell_of(const io::Json& record, const Column& column) {
  return column.show != nullptr ? column.show(record, column)
                                : cell(study::number_in(record, column.key), column.factor);
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
  return value == nullptr || value->is_null() ? "-" : plain_cell(*value);
}

std::string plain_cell(const io::Json& value) {
  return value.is_string() ? value.as_string() : io::compact(value);
}

std::string table_html(const Table& table) {
  const std::vector<bool> words = columns_of_words(table);
  std::string out = "<table>\n";
  if (!table.caption.empty()) {
    out += "<caption>" + base::escaped_markup(table.caption) + "</caption>\n";
  }
  const auto append = [&](const std::vector<std::string>& row, const std::string& tag) {
    out += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += "<" + tag + (tag == "th" ? " scope=\"col\"" : "") +
             (words[i] ? " class=\"word\">" : ">") + base::escaped_markup(row[i]) + "</" + tag +
             ">";
    }
    out += "</tr>\n";
  };
  append(table.headings, "th");
  for (const auto& row : table.rows) {
    append(row, "td");
  }
  return out + "</table>\n";
}

std::string tables_in(Format format, std::span<const Table> tables,
                      std::span<const std::string> below) {
  const bool html = format == Format::html;
  std::string out(html ? kPage : "");
  for (const Table& table : tables) {
    if (html) {
      out += table_html(table);
      continue;
    }
    out += &table == tables.data() ? "" : "\n";
    if (format == Format::markdown) {
      out += table_markdown(table);
    } else {
      out += (table.caption.empty() ? "" : table.caption + "\n") + table_text(table);
    }
  }
  if (html && !below.empty()) {
    out += "<ul>\n";
    for (const std::string& line : below) {
      out += "<li>" + base::escaped_markup(line) + "</li>\n";
    }
    out += "</ul>\n";
  }
  return out + (html ? "</body>\n</html>\n" : "");
}

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
  const std::vector<bool> words = columns_of_words(table);
  for (std::size_t i = 0; i < columns; ++i) {
    widths[i] = width(table.headings[i]);
    for (const auto& row : table.rows) {
      assert(row.size() == columns && "every row has a cell per heading");
      widths[i] = std::max(widths[i], width(row[i]));
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

std::string cell(std::optional<double> value, double factor) {
  return value ? base::significant(*value * factor) : "-";
}

std::string milliseconds_cell(std::optional<double> seconds) { return cell(seconds, 1e3); }

std::string percent_cell(std::optional<double> ratio) {
  return ratio ? cell(ratio, 100) + " %" : "-";
}

std::string groups_cell(std::span<const Ends> groups) {
  std::string text;
  for (const auto& [first, last] : groups) {
    text += "{" + std::to_string(first) + (last > first ? "-" + std::to_string(last) : "") + "}";
    if (text.size() > 60) {
      return text + "...";
    }
  }
  return text;
}

std::optional<double> part_of(std::optional<double> part, std::optional<double> whole) {
  constexpr double kRounding = 1e-9;
  return part && std::abs(*part) < kRounding * whole.value_or(0) ? 0 : part;
}

} // namespace stepsim::cli
