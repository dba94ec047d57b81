#pragma once
// Series and cells of a reproduction as numbers: records are selected, joined with their other
// record, and put into formulas. Every error names the place in figures.json.
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
  const io::Object* other{}; // null: none asked for
};

// Whether two values of a column are equal, numbers within 1e-9 of the larger one.
[[nodiscard]] bool same_value(const io::Json& a, const io::Json& b);
// The value of a column, null if the record has none.
[[nodiscard]] const io::Json* column(const io::Object& record, std::string_view name);

// The records of a series with their others, in the order of the run. Throws InputError in `file`
// where a run is unknown, no record is found, or a record lacks its other.
[[nodiscard]] std::vector<Joined> select(const Series& series, const AllRecords& all,
                                         const std::string& file);

// A formula over the columns of a record and of its other. Throws InputError.
[[nodiscard]] double evaluate(const std::string& formula, const Joined& joined,
                              const Series& series, const std::string& file);

// One number. Throws InputError, also where several records are left for `one`.
[[nodiscard]] double evaluate(const Cell& cell, const AllRecords& all, const std::string& file);

} // namespace stepsim::reproduce
