#pragma once
// What this binary was built from.
#include <string>
#include <string_view>

namespace stepsim::cli {

[[nodiscard]] std::string_view version();  // "0.1.0"
[[nodiscard]] std::string_view git_hash(); // "b95bffd", "b95bffd-dirty", "unknown"
// Text of `stepsim --version`.
[[nodiscard]] std::string version_text();

} // namespace stepsim::cli
