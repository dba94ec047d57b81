#pragma once
// Version and source revision of this binary.
#include <string>
#include <string_view>

namespace stepsim::cli {

[[nodiscard]] std::string_view version();  // "0.1.0"
[[nodiscard]] std::string_view git_hash(); // "b95bffd", "b95bffd-dirty", "unknown"
// The text of `stepsim --version`.
[[nodiscard]] std::string version_text();

} // namespace stepsim::cli
