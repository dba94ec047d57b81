#pragma once
// Texts and files to JSON trees. nlohmann/json does the parsing and is seen by .cpp files only.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "json/json.hpp"

namespace stepsim::io {

// What a text may hold before it is refused: a small file can describe a very large tree.
struct ParseLimits {
  std::uint64_t max_bytes = std::uint64_t{8} << 30; // inflated
  std::size_t max_depth = 256;                      // of lists and objects inside each other
  std::size_t max_string = std::size_t{16} << 20;   // bytes of one text
  std::size_t max_values = 10'000'000;              // a tree takes about 150 bytes per value
};

// Parses a text; throws InputError `FILE:LINE:COL: message` for syntax errors, duplicate keys,
// NaN, infinities, numbers out of range of double and what exceeds `limits` (max_bytes: read_json
// only). LINE and COL (in bytes) are where the offending word starts.
[[nodiscard]] Json parse_json(std::string_view text, std::string_view file,
                              ParseLimits limits = {});
// Reads a file ("-" = standard input), inflates gzip by content; streams, so that memory grows with
// the tree and not with the file.
[[nodiscard]] Json read_json(const std::string& path, ParseLimits limits = {});

} // namespace stepsim::io
