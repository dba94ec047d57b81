#pragma once
// The table of file formats that stepsim reads or writes: one row per value of the key `kind`.

#include "document/fields/schema.hpp"

namespace stepsim::cli {

// The rows, sorted by kind. `stepsim schema KIND` prints the JSON Schema of a row; a test compares
// every row with its file under schemas/.
[[nodiscard]] std::vector<io::FileKind> file_kinds();

} // namespace stepsim::cli
