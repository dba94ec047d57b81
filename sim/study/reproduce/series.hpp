#pragma once
// Computes the numbers of a reproduction. A series selects records, joins each with a second record
// if it asks for one (`other`), and has one number per record by a formula. A cell reduces a series
// to one number, such as the value of a claim. Every error names its place in figures.json.

#include "study/reproduce/paper_records.hpp"

namespace stepsim::reproduce {

struct Joined {
  const io::Object* record{};
  const io::Object* other{}; // null if the series asks for none
};

// Whether two values of a column are equal; numbers may differ by 1e-9 of the larger one.
[[nodiscard]] bool same_value(const io::Json& a, const io::Json& b);
// Returns the value of a column; null if the record does not have the column.
[[nodiscard]] const io::Json* column(const io::Object& record, std::string_view name);

// The records that a series selects, in the order of the run, each joined with the first record
// that matches the series' `other`, if the series has one. Throws InputError in `file` if a run is
// unknown, if no record is selected, or if `other` has no match for a record with the columns of
// `where`, even if `when` leaves that record out.
[[nodiscard]] std::vector<Joined> select(const Series& series, const AllRecords& all,
                                         const std::string& file);

// The value of a formula over the columns of a record and, with other_ before their names, of the
// record joined with it. Throws InputError if the formula is invalid, if a column is missing or
// does not hold a number, or if the value is not finite.
[[nodiscard]] double evaluate(const std::string& formula, const Joined& joined,
                              const Series& series, const std::string& file);

// The number of a cell. Throws InputError if it cannot be computed, for example if the cell asks
// for one record and several are selected.
[[nodiscard]] double evaluate(const Cell& cell, const AllRecords& all, const std::string& file);

} // namespace stepsim::reproduce
