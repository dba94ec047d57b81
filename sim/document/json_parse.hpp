#pragma once
// Parses texts and files into JSON trees. nlohmann/json does the work; only .cpp files include it.
#include <cstddef>

#include "document/json.hpp"

namespace stepsim::io {

class ByteSource;

// Limits on a text, because a small file can describe a very large tree.
struct ParseLimits {
  std::uint64_t max_bytes = std::uint64_t{8} << 30; // after inflation
  std::size_t max_depth = 256;                      // nested lists and objects
  std::size_t max_string = std::size_t{16} << 20;   // bytes of one text
  std::size_t max_values = 10'000'000;              // a tree takes about 150 bytes per value
};

// Parses a text. Throws InputError `FILE:LINE:COL: message`, LINE and COL (in bytes) being the
// start of the wrong word, for syntax errors, duplicate keys, NaN, infinities, numbers out of range
// of double, and a text beyond `limits` (max_bytes only in read_json).
[[nodiscard]] Json parse_json(std::string_view text, std::string_view file,
                              ParseLimits limits = {});
// Reads a source to its end, as a stream: memory grows with the tree, not with the file. Of
// `limits`, max_bytes is left to the source. Throws as parse_json() does.
[[nodiscard]] Json read_json(ByteSource& source, ParseLimits limits = {});
// Reads a file ("-" = standard input), gzip or not. `sha256`, if it is given, becomes the digest
// that sha256_of_file() gives, without a second reading. Throws as parse_json() does.
[[nodiscard]] Json read_json(const std::string& path, ParseLimits limits = {},
                             std::string* sha256 = nullptr);

} // namespace stepsim::io
