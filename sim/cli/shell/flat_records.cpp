#include "cli/shell/flat_records.hpp"

#include <set>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "document/csv.hpp"
#include "document/json_text.hpp"

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

std::vector<io::Object> chosen_keys(std::vector<io::Object> records,
                                    std::span<const std::string> kept,
                                    std::span<const std::string> columns) {
  if (columns.empty()) {
    return records;
  }
  std::set<std::string_view> known;
  bool all_failed = true;
  for (const io::Object& record : records) {
    bool failed = false;
    for (const auto& [key, value] : record) {
      known.insert(key);
      failed = failed || (key == "error" && !value.is_null());
    }
    all_failed = all_failed && failed;
  }
  std::set<std::string_view> wanted(kept.begin(), kept.end());
  for (const std::string& column : columns) {
    if (!all_failed && !known.contains(column)) {
      const std::vector<std::string_view> keys(known.begin(), known.end());
      throw UsageError("--columns: " + base::unknown_word("figure", column, keys));
    }
    wanted.insert(column);
  }
  std::vector<io::Object> chosen;
  for (const io::Object& record : records) {
    io::Object& some = chosen.emplace_back();
    for (const auto& [key, value] : record) {
      if (wanted.contains(key)) {
        some.emplace_back(key, value);
      }
    }
  }
  return chosen;
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
