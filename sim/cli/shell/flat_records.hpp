#pragma once
// Writes records as JSON Lines or CSV (RFC 4180). CSV has a header row of the keys, "." as decimal
// point, and empty cells for null.
#include <string>
#include <vector>

#include "json/json.hpp"

namespace stepsim::cli {

// JSON Lines: one compact record per line.
[[nodiscard]] std::string jsonl_text(const std::vector<io::Object>& records);

// CSV with one row per record. The columns are all keys of all records, sorted; a record without a
// key has an empty cell. A list or object is written as compact JSON.
[[nodiscard]] std::string csv_text(const std::vector<io::Object>& records);

} // namespace stepsim::cli
