#pragma once
// Writes records as JSON Lines or CSV (RFC 4180). CSV has a header row of the keys, "." as decimal
// point, and empty cells for null.
#include <span>
#include <string>
#include <vector>

#include "document/json.hpp"

namespace stepsim::cli {

// JSON Lines: one compact record per line.
[[nodiscard]] std::string jsonl_text(const std::vector<io::Object>& records);

// The records with the keys `kept` and `columns` only, all keys if `columns` is empty. Throws
// UsageError for a column that no record has, unless every record has an `error`.
[[nodiscard]] std::vector<io::Object> chosen_keys(std::vector<io::Object> records,
                                                  std::span<const std::string> kept,
                                                  std::span<const std::string> columns);

// CSV with one row per record. The columns are all keys of all records, sorted; a record without a
// key has an empty cell. A list or object is written as compact JSON.
[[nodiscard]] std::string csv_text(const std::vector<io::Object>& records);

} // namespace stepsim::cli
