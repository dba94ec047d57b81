#pragma once
// The small table of a comparison over two fields: one field down, the other across.
#include <vector>

#include "cli/text/record_table.hpp"

namespace stepsim::cli {

// A table of both varied fields against the criterion. None where that would be a single row or
// column, more than 12 columns, or where the rows are not exactly all combinations: a hole or a
// repetition would put a wrong number into a cell.
[[nodiscard]] std::vector<Table> pivot_tables(const RecordRows& records);

} // namespace stepsim::cli
