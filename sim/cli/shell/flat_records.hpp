#pragma once
// Records as JSON Lines and, where they are flat, as CSV (RFC 4180): a header row of the keys, "."
// decimals, empty for null.
#include <string>
#include <vector>

#include "json/json.hpp"

namespace stepsim::cli {

// JSON Lines: one compact record per line.
[[nodiscard]] std::string jsonl_text(const std::vector<io::Object>& records);

// Columns: all keys of all records, sorted. A list or object stands in its cell as compact JSON.
[[nodiscard]] std::string csv_text(const std::vector<io::Object>& records);

} // namespace stepsim::cli
