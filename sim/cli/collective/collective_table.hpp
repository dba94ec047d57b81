#pragma once
// What `stepsim collective` shows to people: a row per combination with the best algorithm marked,
// then crossovers and sums in words.
#include <string>
#include <vector>

#include "cli/collective/collective_grid.hpp"
#include "cli/shell/table.hpp"
#include "coll/record.hpp"
#include "json/json.hpp"

namespace stepsim::cli {

// `records` in the order of the grid's points. Columns: what varies, then times [us], bandwidths
// [GB/s] and the gap to the lower bound. With `all_methods` there is a column of times per
// evaluator.
[[nodiscard]] Table collective_table(const CollectiveGrid& grid,
                                     const std::vector<coll::CollectiveRecord>& records,
                                     bool all_methods);
// One line per crossover or sum; empty without any.
[[nodiscard]] std::string extra_text(const std::vector<io::Json>& extra);

} // namespace stepsim::cli
