#pragma once
// The kinds of files whose keys stepsim can tell: one row each.
#include <vector>

#include "json/fields/schema.hpp"

namespace stepsim::cli {

// By kind; `stepsim schema` prints one, and a test compares each with its file under schemas/.
[[nodiscard]] std::vector<io::FileKind> file_kinds();

} // namespace stepsim::cli
