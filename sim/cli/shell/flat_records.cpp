#include "cli/shell/flat_records.hpp"

#include <set>

#include "json/csv.hpp"
#include "json/json_text.hpp"

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

std::string jsonl_text(const std::vector<io::Object>& records) {
  std::string text;
  for (const io::Object& record : records) {
    io::append_compact(text, record);
    text += '\n';
  }
  return text;
}

std::string csv_text(const std::vector<io::Object>& records) {
  std::set<std::string> columns;
  for (const io::Object& record : records) {
    for (const auto& [key, value] : record) {
      columns.insert(key);
    }
  }
  std::string out;
  for (const std::string& column : columns) {
    out += (out.empty() ? "" : ",") + column;
  }
  out += '\n';
  for (const io::Object& object : records) {
    const io::Json record(object);
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

} // namespace stepsim::cli
