#pragma once
// Computes the numbers of the series and cells of a reproduction: records are selected, joined with
// a second record (the series' `other`) and put into formulas. Every error names its place in
// figures.json.
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "reproduce/paper_records.hpp"
#include "reproduce/reproduction.hpp"

namespace stepsim::reproduce {

struct Joined {
  const io::Object* record{};
  const io::Object* other{}; // null if the series asks for none
};

// Whether two values of a column are equal; numbers may differ by 1e-9 of the larger one.
[[nodiscard]] bool same_value(const io::Json& a, const io::Json& b);
// The value of a column; null if the record does not have the column.
[[nodiscard]] const io::Json* column(const io::Object& record, std::string_view name);

// The records of a series, each joined with its other record, in the order of the run. Throws
// InputError in `file` if a run is unknown, no record is found, or a record has no other record.
[[nodiscard]] std::vector<Joined> select(const Series& series, const AllRecords& all,
                                         const std::string& file);

// The value of a formula over the columns of a record and of its other record. Throws InputError if
// the formula is invalid or a column is missing or no number.
[[nodiscard]] double evaluate(const std::string& formula, const Joined& joined,
                              const Series& series, const std::string& file);

// The number of a cell. Throws InputError if it cannot be computed, for example if the cell asks
// for one record and several are selected.
[[nodiscard]] double evaluate(const Cell& cell, const AllRecords& all, const std::string& file);

} // namespace stepsim::reproduce
