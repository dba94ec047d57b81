#pragma once
// The content of a file of kind reproduction, figures.json (REP 1): the commands that are run for a
// paper, the figures that are drawn from their records, and the claims of the paper that are
// compared with them. All numbers of a paper stand in such a file or in a file that it names, each
// with its source and its label.
//
//     runs, tables  ->  records  ->  series  ->  figures
//                                    cells   ->  claims
//
// A series has a number per record, a cell reduces a series to one number. Formulas are texts such
// as "samples / step_s" over the columns of a record.

#include "plot/figure.hpp"
#include "study/reproduce/speed_rules.hpp"

namespace stepsim::reproduce {

// Where a number of a paper was seen. Numbers that were recalled or could not be read decide no
// claim, and reported points and bars leave them out.
enum class Label { abstract, repository, drawing, second_hand, recalled, unreadable };
inline constexpr auto kLabels = base::words<Label>({{Label::second_hand, "second-hand"}});
// Whether numbers with this label decide claims and are drawn as reported.
[[nodiscard]] constexpr bool counts(Label label) {
  return label != Label::recalled && label != Label::unreadable;
}

// Turns rows into columns: records that are equal except in `column`, `value`, low and high become
// one record, without low and high. For each text in `column` it has a column with the content of
// `value`. Numbers in `column`, and texts that are not in `names`, are left out.
//     column "scheme", value "s":  {"scheme": "a", "s": 1}, {"scheme": "b", "s": 2}
//                              ->  {"a": 1, "b": 2}
struct Pivot {
  std::string column; // "": no pivot
  std::string value;
  // Texts in `column` and the names of their columns; empty: every text is its own name.
  std::vector<std::pair<std::string, std::string>> names;
};

// One of several ways to run a command.
struct Choice {
  io::Object columns;             // columns, with their values, that the records get
  std::vector<std::string> words; // words after those of the command
  std::int64_t seeds{};           // number of seeds; 0: Run::seeds
};

// A stepsim command. Its records are the lines of its result, or the list or object at `rows` in
// the result. With `vary` the command runs for every combination of one choice of each list. With
// `seeds` each combination runs with the seeds 1, 2, .., and the numbers of a record are the
// medians over the seeds.
struct Run {
  std::string id;
  std::vector<std::string> argv; // words of the command, without "stepsim"
  std::string rows;              // pointer into a result that is one JSON tree; "": JSON Lines
  std::vector<std::vector<Choice>> vary;
  std::int64_t seeds{};             // number of seeds; 0: the command takes no --seed
  std::int64_t digits{};            // significant digits that numbers keep; 0: all
  std::vector<std::string> columns; // columns of the result that records keep; empty: all
  Pivot pivot;
  bool slow = false; // --quick does not run it, but reads `stored`
  // File with the records of an earlier run, before the pivot; relative to figures.json.
  std::string stored;
};

// Numbers that others published, or that a slow study of ours left in a file.
struct Table {
  // `file`, relative to figures.json, has the numbers; "": they are in `records`. `rows` is the
  // pointer to the list of records in a JSON file.
  std::string id, file, rows;
  std::string source;              // repository, commit and path, or DOI
  std::optional<Label> label;      // empty: the numbers are our own
  std::vector<io::Object> records; // numbers that stand in figures.json
  Pivot pivot;
  std::optional<Scoreboard> predict; // the rows are measured speeds, which these rules predict
  std::string place;                 // pointer, for errors
};

// Selects for each record of a series a second one, the first that has the values of `where` and
// whose columns match. Formulas name the columns of the second record with other_ before them.
struct Other {
  std::string run;  // run or table of the second record; "": that of the series
  io::Object where; // columns with their values
  // Pairs of a column of the record and the column of the second record with the same value.
  std::vector<std::pair<std::string, std::string>> match;
};
// Selects records of a run or table.
struct Series {
  std::string run;  // id of the run or table
  io::Object where; // columns with their values; only records that have these values are selected
  std::string when; // formula that must be above 0 for a record to be selected; "": no condition
  std::optional<Other> other;
  std::string place; // pointer, for errors
};

// How a cell makes one number of the numbers of a series. `one` requires a single record.
// `same_best` counts the groups in which the same record has the least Cell::value and the least
// Cell::with.
enum class Reduce { one, min, max, median, mean, sum, count, same_best };
inline constexpr auto kReduces = base::words<Reduce>();
struct Cell {
  Series series;
  std::string value; // formula
  Reduce reduce = Reduce::one;
  std::vector<std::string> group; // same_best: columns that the records of a group share
  std::string with;               // same_best: formula that is compared with `value`
};

// The parts of figures, which become those of plot/figure.hpp. x, y, low, high, values, start and
// end are formulas.
struct Curve {
  std::string label;
  Series series;
  std::string x, y;
  std::size_t rank{};
  bool bold = false, markers = true;
};
struct BandOf {
  std::string label;
  Series series;
  std::string x, low, high;
};
struct MarkAt {
  plot::Mark::Kind kind{};
  std::variant<double, Cell> at;
  std::string text; // {} stands for the value
};
struct BarOf {
  std::string name;
  Series series;
  std::size_t first{};             // the part that the first of the values is of
  std::vector<std::string> values; // formulas; further parts are not there
};
using BarGroup = std::pair<std::string, std::vector<BarOf>>; // its name and its bars
struct BarsOf {
  std::vector<std::string> parts;
  std::vector<BarGroup> groups;
};
struct LaneOf {
  std::string name;
  Series series;
  std::string start, end;
};
struct PanelOf {
  std::string title;
  std::vector<Curve> curves, reported, guides;
  std::vector<BandOf> bands;
  std::vector<MarkAt> marks;
  BarsOf bars;
  std::vector<std::string> lane_parts;
  std::vector<LaneOf> lanes;
  std::optional<plot::Axis> x, y;
};

// A table with the columns "ours, theirs, label, difference" and one row per record of the series.
// The label is the text in the column `label` or, if that is "", the label of the table of `other`
// or, without it, of the series.
struct Comparison {
  std::string label;
  std::vector<std::string> names; // columns whose values name a row
  Series series;
  // Formulas, and the unit of their values. `low` and `high` are the interval of our number; "": no
  // interval.
  std::string ours, low, high, theirs, unit;
  std::optional<double> limit; // largest |ours / theirs - 1| at which a row is met
};

// A table with a row per record: the columns of the records under other titles.
struct RecordTable {
  Series series;
  std::vector<std::pair<std::string, std::string>> columns; // title, column
};

struct FigureOf {
  std::string id, question, setting, note;
  std::string not_drawn; // reason why there is no picture; "": there is one
  plot::Axis x, y;
  std::vector<PanelOf> panels;
  std::vector<Comparison> comparisons;
  std::vector<RecordTable> tables;
  std::vector<std::string> runs; // ids of the runs whose commands the page shows
};

struct Claim {
  std::string id, figure, text, source, unit, reason, theirs;
  std::string free; // an input of ours that the paper does not give; "": all are given
  Label label{};
  std::vector<double> reported;
  std::vector<Cell> ours;          // our numbers; empty: there are none to compare
  std::optional<double> low, high; // the claim is met if all our numbers are in this range
  bool comparable = true;          // false: our numbers are shown next to theirs but decide nothing
};

struct Reproduction {
  std::string name, title, citation, file;
  std::vector<std::string> first, assumed, unreadable, successors; // sentences of the page
  // Words of the records, such as methods, and the names that the page has for them.
  std::vector<std::pair<std::string, std::string>> words;
  std::vector<Run> runs;
  std::vector<Table> tables;
  std::vector<FigureOf> figures;
  std::vector<Claim> claims;
};

} // namespace stepsim::reproduce
