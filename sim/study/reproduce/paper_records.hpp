#pragma once
// The records of a run or of a table. A record is a flat object with a value per column; the names
// of nested members are joined by "_".
//     {"point": 0, "nodes": 4, "speedup": 3.99, ...}

#include "document/reader.hpp"
#include "study/reproduce/reproduction.hpp"

#include <functional>

namespace stepsim::reproduce {

using Records = std::vector<io::Object>;
using AllRecords = std::map<std::string, Records, std::less<>>; // by the id of the run or table

// Returns one record per line of JSON Lines, except for lines that are not results, such as the
// header and the end of a sweep. Throws InputError if a line cannot be parsed; `file` is the name
// in errors.
[[nodiscard]] Records records_of_lines(std::string_view text, const std::string& file);
// Returns one record per element of the list at `pointer`, or one record for an object there. A
// file of kind measured_training without pointer gives one record per measured speed, with the
// columns model, method, ranks, samples_per_s_per_gpu and, if given, batch size and phases of the
// model. Throws InputError if `pointer` names neither a list nor an object.
[[nodiscard]] Records records_of_tree(const io::Json& tree, std::string_view pointer);
// Returns the records of a table, pivoted: those in the table itself, or those of its file, whose
// path is relative to the file `reproduction`.
[[nodiscard]] Records records_of_table(const Table& table, const std::string& reproduction);

// Returns one list of records for several lists, one per seed: each number is the median over the
// lists, all other values are those of the first list. The lists must have the same records, with
// the same columns, in the same order. Throws SimulationError if a value is a number in the first
// list but not in another.
[[nodiscard]] Records medians(const std::vector<Records>& seeds);
// Returns the records with their numbers rounded to `digits` significant digits.
[[nodiscard]] Records rounded(Records records, int digits);
// Returns the records with only these columns, in the order of the record; a record may lack some.
[[nodiscard]] Records with_columns(const Records& records, const std::vector<std::string>& columns);
// Returns the records that Pivot describes; `records` unchanged if pivot.column is "".
[[nodiscard]] Records pivoted(Records records, const Pivot& pivot);

// Returns the records as JSON Lines.
[[nodiscard]] std::string lines_of_records(const Records& records);

// Whether a claim of a paper holds in our numbers (REP, verdicts): met, not met, bracketed, or not
// comparable. A claim is bracketed where our numbers hold it only because an input that the paper
// does not give may take any value; that confirms nothing. For a claim with label second_hand, "as
// read by others" follows all but the last.

enum class Verdict { met, not_met, bracketed, not_comparable };
inline constexpr auto kVerdicts = base::words<Verdict>(
    {{Verdict::not_met, "not met"}, {Verdict::not_comparable, "not comparable"}});

struct Decided {
  const Claim* claim{}; // in the Reproduction, whose claims must outlive this
  Verdict verdict{};
  std::vector<double> ours; // our numbers, one per cell of the claim
};

// A paper with the records of its runs and tables, and the verdicts of its claims.
struct Reproduced {
  Reproduction paper;
  AllRecords records;
  std::vector<Decided> decided; // in the order of the claims
};

// Returns the paper with the verdict of every claim. A claim is not comparable if its label does
// not count (counts()), if it has no cells, or if its `comparable` is false. Throws InputError if a
// cell cannot be evaluated.
[[nodiscard]] Reproduced decide(Reproduction paper, AllRecords records);

// Returns the verdict in words: "met", "met as read by others".
[[nodiscard]] std::string verdict_text(const Decided& decided);
// Returns the number as text: whole numbers below 1e9 with all digits, others with four significant
// digits.
[[nodiscard]] std::string shown_number(double value);
// Returns the reason of a claim, with our numbers in place of {}.
[[nodiscard]] std::string reason_text(const Decided& decided);
// Returns the range of our numbers: "1.261 to 6.582 x"; "-" if there are none.
[[nodiscard]] std::string ours_text(const Decided& decided);
// Returns the numbers of the paper in the same form, or the claim in words (Claim::theirs).
[[nodiscard]] std::string theirs_text(const Claim& claim);
// Returns the range in which the claim is met: "at least 2.7, at most 12"; "-" without limits.
[[nodiscard]] std::string limits_text(const Claim& claim);

// Returns the content of claims.json.
[[nodiscard]] io::Json claims_tree(const Reproduced& all);

// Computes the numbers of a reproduction. A series selects records, joins each with a second record
// if it asks for one (`other`), and has one number per record by a formula. A cell reduces a series
// to one number, such as the value of a claim. Every error names its place in figures.json.

struct Joined {
  const io::Object* record{};
  const io::Object* other{}; // null if the series asks for none
  const Series* series{};
  const std::string* file{}; // in errors
};

// Whether two values of a column are equal; numbers may differ by 1e-9 of the larger one.
[[nodiscard]] bool same_value(const io::Json& a, const io::Json& b);
// Returns the value of a column; null if the record does not have the column.
[[nodiscard]] const io::Json* column(const io::Object& record, std::string_view name);

// The records that a series selects, in the order of the run, each joined with the first record
// that matches the series' `other`, if the series has one. Throws InputError in the paper's file if
// a run is unknown, if no record is selected, or if `other` has no match for a record with the
// columns of `where`, even if `when` leaves that record out.
[[nodiscard]] std::vector<Joined> select(const Series& series, const Reproduced& all);

// The value of a formula over the columns of a record and, with other_ before their names, of the
// record joined with it. Throws InputError if the formula is invalid, if a column is missing or
// does not hold a number, or if the value is not finite.
[[nodiscard]] double evaluate(const std::string& formula, const Joined& joined);

// The number of a cell. Throws InputError if it cannot be computed, for example if the cell asks
// for one record and several are selected.
[[nodiscard]] double evaluate(const Cell& cell, const Reproduced& all);

// Reads files of kind reproduction (reproduction.hpp). Besides types and ranges, it checks that the
// names of runs, tables and figures are unique, and that references name an existing one.

// Throws InputError with all problems found.
[[nodiscard]] Reproduction parse_reproduction(const io::Json& tree);

} // namespace stepsim::reproduce
