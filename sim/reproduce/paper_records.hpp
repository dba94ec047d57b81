#pragma once
// Records of a run or of a table, flat: a value per column, nested members joined by "_".
//     {"point": 0, "nodes": 4, "speedup": 3.99, ...}
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reproduce/reproduction.hpp"
#include "json/json.hpp"

namespace stepsim::reproduce {

using Records = std::vector<io::Object>;
using AllRecords = std::map<std::string, Records, std::less<>>; // by the id of the run or table

// JSON Lines without the header and the end of a sweep. Throws InputError.
[[nodiscard]] Records records_of_lines(std::string_view text, const std::string& file);
// The elements of the list at `pointer`, or the object there; a file of kind measured_training has
// model, method, ranks and samples_per_s_per_gpu, one record per number, and the phases of each
// model. Throws InputError.
[[nodiscard]] Records records_of_tree(const io::Json& tree, std::string_view pointer);
// The records of a table: its own, or those of its file, which is relative to `reproduction`.
[[nodiscard]] Records records_of_table(const Table& table, const std::string& reproduction);

// One record per place: numbers are the medians over the lists (one per seed), everything else is
// that of the first list. The lists have the same records in the same order.
[[nodiscard]] Records medians(const std::vector<Records>& seeds);
// The numbers of the records with so many significant digits.
[[nodiscard]] Records rounded(Records records, int digits);
// The records with these columns alone.
[[nodiscard]] Records with_columns(const Records& records, const std::vector<std::string>& columns);
[[nodiscard]] Records pivoted(Records records, const Pivot& pivot);

// The text of a file of records, one per line.
[[nodiscard]] std::string lines_of_records(const Records& records);

} // namespace stepsim::reproduce
