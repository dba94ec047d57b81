#pragma once
// Flat records as CSV (RFC 4180): a header row of the keys, "." decimals, empty for null. Nested
// objects become columns joined by "_", lists are left out.
#include <string>
#include <vector>

#include "json/json.hpp"

namespace stepsim::cli {

// JSON Lines: one compact record per line.
[[nodiscard]] std::string jsonl_text(const std::vector<io::Object>& records);

[[nodiscard]] io::Object flattened(const io::Json& record);
// Columns: all keys of all records, sorted.
[[nodiscard]] std::string csv_text(const std::vector<io::Object>& records);

} // namespace stepsim::cli
