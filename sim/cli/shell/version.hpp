#pragma once
// What this binary was built from.
#include <string>
#include <string_view>

namespace stepsim::cli {

// Of the files that stepsim reads and writes: their key schema_version.
inline constexpr int kSchemaVersion = 1;

[[nodiscard]] std::string_view version();  // "0.1.0"
[[nodiscard]] std::string_view git_hash(); // "b95bffd", "b95bffd-dirty", "unknown"
// Text of `stepsim --version`.
[[nodiscard]] std::string version_text();

} // namespace stepsim::cli
