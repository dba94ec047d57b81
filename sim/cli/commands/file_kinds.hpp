#pragma once
// The kinds of files whose keys stepsim can tell: one row each.
#include <vector>

#include "json/fields/schema.hpp"

namespace stepsim::cli {

[[nodiscard]] std::vector<io::FileKind> file_kinds();

} // namespace stepsim::cli
