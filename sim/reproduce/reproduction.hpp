#pragma once
// What a file of kind reproduction says (REP 1): the commands that are run for a paper, the figures
// that are drawn from their records and the claims that are held against them. All numbers of a
// paper stand in such a file or in a file that it names, each with its source and its label.
//
//     runs, tables  ->  records  ->  series  ->  figures
//                                    cells   ->  claims
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/words.hpp"
#include "plot/figure.hpp"
#include "reproduce/speed_rules.hpp"
#include "json/json.hpp"

namespace stepsim::reproduce {

// Who can vouch for a number of a paper. Recalled and unreadable ones are neither drawn nor decide.
enum class Label { abstract, repository, second_hand, recalled, unreadable };
inline constexpr auto kLabels = base::words<Label>({{Label::abstract, "abstract"},
                                                    {Label::repository, "repository"},
                                                    {Label::second_hand, "second-hand"},
                                                    {Label::recalled, "recalled"},
                                                    {Label::unreadable, "unreadable"}});
[[nodiscard]] constexpr bool counts(Label label) {
  return label != Label::recalled && label != Label::unreadable;
}

// Records that differ in one column alone become one: their column `value` is shared out to columns
// whose names `names` gives to the values of `column`.
struct Pivot {
  std::string column; // "": none
  std::string value;
  std::vector<std::pair<std::string, std::string>> names; // empty: the values themselves
};

// One of several ways to run a command: words behind it, and what its records say of it.
struct Choice {
  io::Object columns;
  std::vector<std::string> words;
  std::int64_t seeds{}; // 0: those of the run
};

// An ordinary command; its records are the lines of its result, or the list or object at `rows` in
// it. With `vary` the command runs for every combination of one choice of each list, and with
// `seeds` for the seeds 1, 2, .. as well: a record then holds the medians of its numbers over them.
struct Run {
  std::string id;
  std::vector<std::string> argv;
  std::string rows; // pointer into a result that is one tree; "": JSON Lines
  std::vector<std::vector<Choice>> vary;
  std::int64_t seeds{};             // 0: the command takes no --seed
  std::int64_t digits{};            // significant ones of numbers; 0: all
  std::vector<std::string> columns; // kept beside those of choices; empty: all
  Pivot pivot;
  bool slow = false;  // left out by --quick
  std::string stored; // records of an earlier run before the pivot, which --quick takes
};

// Numbers that others published, or that a slow study of ours left in a file.
struct Table {
  std::string id, file, rows; // rows: pointer into a JSON file
  std::string source;
  std::optional<Label> label;      // none: our own
  std::vector<io::Object> records; // where the numbers stand in the file itself
  Pivot pivot;
  std::optional<Scoreboard> predict; // rows of measured speeds, which are predicted
  std::string place;                 // pointer, for errors
};

// Some records of a run or table. Formulas over a record know its columns by name, and those of the
// record that `other` finds with other_ before them.
struct Other {
  std::string run; // "": the same
  io::Object where;
  std::vector<std::pair<std::string, std::string>> match; // column of the record, of the other one
};
struct Series {
  std::string run;
  io::Object where;
  std::string when; // formula: records count where it is above 0; "": all
  std::optional<Other> other;
  std::string place; // pointer, for errors
};

// One number of a series.
enum class Reduce { one, min, max, median, mean, sum, count, same_best };
inline constexpr auto kReduces = base::words<Reduce>({{Reduce::one, "one"},
                                                      {Reduce::min, "min"},
                                                      {Reduce::max, "max"},
                                                      {Reduce::median, "median"},
                                                      {Reduce::mean, "mean"},
                                                      {Reduce::sum, "sum"},
                                                      {Reduce::count, "count"},
                                                      {Reduce::same_best, "same_best"}});
struct Cell {
  Series series;
  std::string value;
  Reduce reduce = Reduce::one;
  std::vector<std::string> group; // of same_best: columns of one choice
  std::string with;               // of same_best: formula of the other opinion
};

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
  std::vector<std::string> values;
};
struct BarsOf {
  std::vector<std::string> parts;
  std::vector<std::pair<std::string, std::vector<BarOf>>> groups;
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

// Rows "ours, theirs, label, difference": one per record of the series, whose other is of a table.
struct Comparison {
  std::vector<std::string> names; // columns that name the row
  Series series;
  std::string ours, low, high, theirs, unit; // low, high: interval of ours, "": none
  std::optional<double> limit;               // relative error above which a row is not met
};

struct FigureOf {
  std::string id, question, setting, note;
  std::string not_drawn; // why there is no picture; "": there is one
  plot::Axis x, y;
  std::vector<PanelOf> panels;
  std::vector<Comparison> comparisons;
  std::vector<std::string> runs; // whose commands the page shows
};

struct Claim {
  std::string id, figure, text, source, unit, reason, theirs;
  Label label{};
  std::vector<double> reported;
  std::vector<Cell> ours; // empty: nothing to compare
  std::optional<double> low, high;
  bool comparable = true; // false: ours are shown beside theirs, and decide nothing
};

struct Reproduction {
  std::string name, title, citation, file;
  std::vector<std::string> first, assumed, unreadable, successors; // sentences of the page
  std::vector<std::pair<std::string, std::string>> words;          // names of methods in rows
  std::vector<Run> runs;
  std::vector<Table> tables;
  std::vector<FigureOf> figures;
  std::vector<Claim> claims;
};

} // namespace stepsim::reproduce
