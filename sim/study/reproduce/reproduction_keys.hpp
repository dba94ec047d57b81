#pragma once
// The keys of a file of kind reproduction (REP 1): reproduce/PAPER/figures.json.

#include "document/fields/schema.hpp"
#include "study/reproduce/reproduction.hpp"
#include "study/reproduce/scoreboard_keys.hpp"

namespace stepsim::reproduce::keys {

using namespace io::rows;
using io::Key;

inline constexpr std::array kSentence{text("sentences", "One sentence.")};
inline constexpr std::array kWord{text("argv", "One word of the command line.")};
inline constexpr std::array kColumnName{text("columns", "Name of a column.")};
inline constexpr std::array kFormula{text("values", "Formula over the columns of the record.")};
inline constexpr std::array kWhereValue{any("where", "Value of the column, a number or a text.")};
inline constexpr std::array kMatchColumn{text("match", "Column of the other record.")};
inline constexpr std::array kNumber{number("reported", "One number.")};
inline constexpr std::array kCellValue{any("rows", "A number, a text or null.")};
inline constexpr std::array kRow{list("rows", kCellValue, "One record, a value per column.")};
inline constexpr std::array kOwnWord{text("words", "Name that readers know it by.")};
inline constexpr std::array kTickValue{number("ticks", "One tick.")};

inline constexpr std::array kNewColumn{text("names", "Name of a column.")};
inline constexpr std::array kPivotKeys{
    text("column", "Column whose values become columns.").required(),
    text("value", "Column whose numbers they hold.").by_default("value"),
    map("names", kNewColumn,
        "Values of the column, and the names of the columns that they become; left out: the values "
        "themselves.")};

inline constexpr std::array kExtraWord{text("words", "One word of the command line.")};
inline constexpr std::array kChoiceColumn{any("columns", "A number or a text.")};
inline constexpr std::array kChoiceKeys{
    map("columns", kChoiceColumn, "Columns of the records that this choice gives."),
    list("words", kExtraWord, "Words behind those of the command."),
    integer("seeds", "Number of seeds of this choice; the default is that of the run.")
        .in(io::at_least(1))};
inline constexpr std::array kChoice{object("vary", kChoiceKeys, "One choice.")};
inline constexpr std::array kChoices{list("vary", kChoice, "Choices, of which one is taken.")};

inline constexpr std::array kRunKeys{
    text("id", "Name of the run; its records are written to ID.jsonl.").required(),
    list("argv", kWord, "The words of an ordinary stepsim command, without stepsim itself.")
        .sizes(1)
        .required(),
    text("rows",
         "JSON pointer of the list of records in a result that is one tree. By default the result "
         "is written as JSON Lines, one record per line."),
    list("vary", kChoices,
         "Lists of choices: the command runs for every combination of one choice of each."),
    integer("seeds",
            "Runs every combination with --seed 1, 2, .. up to this number; a record holds the "
            "medians of its numbers.")
        .in(io::at_least(1)),
    integer("digits", "Significant digits that the numbers of its records keep; default all.")
        .in(io::between(1, 17)),
    list("columns", kColumnName, "Columns that are kept beside those of choices; default all."),
    object("pivot", kPivotKeys,
           "Makes one record of those that differ in one column; a column of theirs is shared out "
           "to columns of the given names."),
    boolean("slow", "The run takes long: --quick takes the records of `stored`.").by_default(false),
    text("stored", "Records of an earlier run, JSON Lines, relative to this file.")};
inline constexpr std::array kRuns{object("runs", kRunKeys, "One run.")};

inline constexpr std::array kTableKeys{
    text("id", "Name of the table, as runs have one.").required(),
    text("file", "JSON, JSON Lines or CSV file with the numbers, relative to this file. Of a CSV "
                 "file whose column `values` holds lists, the records have their median, least and "
                 "greatest as value, low and high."),
    text("pointer", "JSON pointer of the list of records in the file."),
    list("columns", kColumnName, "Columns of `rows`."),
    list("rows", kRow, "The numbers themselves, instead of a file."),
    object("pivot", kPivotKeys,
           "Makes one record of those that differ in one column; a column of theirs is shared out "
           "to columns of the given names."),
    object("predict", kPredictKeys,
           "The rows are measured speeds of training (reproduce/scoreboard/README.md), each of "
           "which is predicted by these rules. Further tables follow from them: ID_sorted, "
           "ID_groups, ID_pairs and ID_ends."),
    text("source", "Where the numbers come from: repository, commit and path, or DOI.").required(),
    word("label", kLabels, "Who can vouch for the numbers; left out: they are our own."),
};
inline constexpr std::array kTables{object("tables", kTableKeys, "Numbers of one source.")};

inline constexpr std::array kOtherKeys{
    text("run", "Run or table of the other record; the default is that of the record."),
    map("where", kWhereValue, "Columns of the other record with their values."),
    map("match", kMatchColumn,
        "Columns of the record, and the column of the other one that has the same value.")};
inline constexpr std::array kSeriesKeys{
    text("run", "Run or table that the records are of.").required(),
    map("where", kWhereValue, "Columns with their values: the records that have them count."),
    text("when", "Formula: the records where it is above 0 count."),
    object("other", kOtherKeys,
           "A second record for each record; formulas know its columns with other_ before them.")};

inline constexpr std::array kCellKeys{
    text("value", "Formula over the columns of a record.").required(),
    word("reduce", kReduces,
         "What makes one number of several records. same_best counts in how many groups the least "
         "`value` and the least `with` are of one record.")
        .by_default("one"),
    list("group", kColumnName, "Columns that the records of a group share."),
    text("with", "Formula of same_best.")};
inline constexpr std::array kCells{
    object("ours", kSeriesKeys, "One number of ours.").and_also(kCellKeys)};

inline constexpr std::array kCurveKeys{
    text("label", "Name in the legend.").required(),
    text("x", "Formula of the place on the x axis.").required(),
    text("y", "Formula of the value.").required(),
    integer("rank", "Look of the line, from the darkest on.")
        .in(io::between(0, plot::kRanks - 1))
        .by_default(0),
    boolean("bold", "The curve that the question speaks of.").by_default(false),
    boolean("markers", "Whether its points have markers.").by_default(true)};
inline constexpr std::array kCurves{
    object("curves", kSeriesKeys, "One line.").and_also(kCurveKeys)};

inline constexpr std::array kBandKeys{text("label", "Name in the legend.").required(),
                                      text("x", "Formula of the place on the x axis.").required(),
                                      text("low", "Formula of the lower edge.").required(),
                                      text("high", "Formula of the upper edge.").required()};
inline constexpr std::array kBands{object("bands", kSeriesKeys, "One area.").and_also(kBandKeys)};

inline constexpr std::array kMarkAt{
    number("at", "The value."),
    object("at", kSeriesKeys, "The value, from records.").and_also(kCellKeys)};
inline constexpr std::array<std::string_view, 2> kMarkKinds{"vertical", "horizontal"};
inline constexpr std::array kMarkKeys{
    word("kind", kMarkKinds, "Direction of the line.").by_default("vertical"),
    either("at", kMarkAt, "Where it stands.").required(),
    text("text", "What it says; {} stands for the value.").required()};
inline constexpr std::array kMarks{object("marks", kMarkKeys, "One marked value.")};

inline constexpr std::array kBarKeys{
    text("name", "Name under the bar.").by_default(""),
    integer("first", "Index of the part that the first formula is of.")
        .in(io::at_least(0))
        .by_default(0),
    list("values", kFormula, "Formulas of this part and those after it; other parts are not there.")
        .sizes(1)
        .required()};
inline constexpr std::array kBar{object("bars", kSeriesKeys, "One bar.").and_also(kBarKeys)};
inline constexpr std::array kGroupKeys{text("name", "Name of the group.").required(),
                                       list("bars", kBar, "Its bars.").required()};
inline constexpr std::array kGroups{object("groups", kGroupKeys, "Bars beside each other.")};
inline constexpr std::array kPart{text("parts", "Name of a part in the legend.")};
inline constexpr std::array kBarsKeys{list("parts", kPart, "Parts of a bar.").required(),
                                      list("groups", kGroups, "Groups of bars.").required()};

inline constexpr std::array kLaneKeys{text("name", "Name of the lane.").required(),
                                      text("start", "Formula of the start.").required(),
                                      text("end", "Formula of the end.").required()};
inline constexpr std::array kLanes{object("lanes", kSeriesKeys, "One lane.").and_also(kLaneKeys)};

inline constexpr std::array kAxisKeys{
    text("title", "Title of the axis.").required(),
    text("unit", "Unit behind the title.").by_default(""),
    word("scale", plot::kScales, "Scale.").by_default("linear"),
    list("ticks", kTickValue, "Where ticks stand; the default follows from the data."),
    number("low", "The axis begins at it, or below."),
    number("high", "The axis ends at it, or above.")};

inline constexpr std::array kPanelKeys{
    text("title", "Title of the panel.").by_default(""),
    list("curves", kCurves, "Lines of ours."),
    list("reported", kCurves, "Points that a paper reports, from tables."),
    list("guides", kCurves, "Thin grey lines: the ideal, or a bound."),
    list("bands", kBands, "Areas between two curves."),
    list("marks", kMarks, "What the figure points at."),
    object("bars", kBarsKeys, "Bars instead of lines."),
    list("lane_parts", kPart, "Name of all spans of the lanes, in the legend."),
    list("lanes", kLanes, "Spans of time instead of lines."),
    object("x", kAxisKeys, "Its own x axis."),
    object("y", kAxisKeys, "Its own y axis.")};
inline constexpr std::array kPanels{object("panels", kPanelKeys, "One panel.")};

inline constexpr std::array kComparisonKeys{
    list("names", kColumnName, "Columns that name a row.").required(),
    text("ours", "Formula of our number.").required(),
    text("low", "Formula of the lower end of our interval."),
    text("high", "Formula of its upper end."),
    text("theirs", "Formula of the published number.").required(),
    text("label", "Column with the label of a row, instead of that of the table."),
    text("unit", "Unit of both.").by_default(""),
    number("limit", "Relative error above which a row is not met.").in(io::above(0))};
inline constexpr std::array kComparisons{
    object("comparisons", kSeriesKeys, "One row per record.").and_also(kComparisonKeys)};

inline constexpr std::array kShownColumn{text("columns", "Column of the records.")};
inline constexpr std::array kRecordTableKeys{
    map("columns", kShownColumn, "Columns of the table, by their titles.").required()};
inline constexpr std::array kRecordTables{
    object("tables", kSeriesKeys, "One row per record.").and_also(kRecordTableKeys)};

inline constexpr std::array kRunName{text("runs", "Id of a run.")};
inline constexpr std::array kFigureKeys{
    text("id", "Name of the figure; the picture is ID.svg.").required(),
    text("question", "What the figure answers; its title.").required(),
    text("setting", "The setting, in one line under the title.").by_default(""),
    text("not_drawn", "Why there is no picture."),
    object("x", kAxisKeys, "The x axis of all panels."),
    object("y", kAxisKeys, "The y axis of all panels."),
    list("panels", kPanels, "Panels beside each other."),
    list("comparisons", kComparisons, "Rows of the table: ours, theirs, label, difference."),
    list("tables", kRecordTables, "Further tables, of records."),
    text("note", "Remark below the table.").by_default(""),
    list("runs", kRunName, "Runs whose commands the page shows.")};
inline constexpr std::array kFigures{object("figures", kFigureKeys, "One figure.")};

inline constexpr std::array kClaimKeys{
    text("id", "Name of the claim.").required(),
    text("figure", "Figure that shows it.").required(),
    text("text", "The claim, in one sentence.").required(),
    word("label", kLabels, "Who can vouch for it.").required(),
    text("source", "Where it stands.").required(),
    list("reported", kNumber, "The numbers that are claimed."),
    text("theirs", "The claim in words, instead of numbers.").by_default(""),
    text("unit", "Unit of the numbers.").by_default(""),
    list("ours", kCells, "Our numbers; left out: they cannot be compared."),
    number("low", "The claim is met where no number of ours is below it."),
    number("high", "The claim is met where no number of ours is above it."),
    text("free",
         "An input of ours that the paper does not give and that decides whether our numbers "
         "hold the claim: the verdict is then bracketed instead of met.")
        .by_default(""),
    boolean("comparable", "False: our numbers stand beside theirs and decide nothing.")
        .by_default(true),
    text("reason", "Why it is not met or cannot be compared, or what it means that it is met.")
        .by_default("")};
inline constexpr std::array kClaims{object("claims", kClaimKeys, "One claim.")};

inline constexpr std::array kReproductionKeys{
    text("title", "Title of the page.").required(),
    text("citation", "Authors, title, place and identifier of the paper.").required(),
    list("first", kSentence, "Sentences at the top of the page."),
    map("words", kOwnWord, "Names of methods and models, as readers know them."),
    list("runs", kRuns, "Commands whose records are used."),
    list("tables", kTables, "Numbers of others, and of slow studies."),
    list("figures", kFigures, "Figures of the page.").required(),
    list("claims", kClaims, "Claims of the paper."),
    list("assumed", kSentence, "What is assumed."),
    list("unreadable", kSentence, "What we could not read."),
    list("successors", kSentence, "Later papers, and what came of their claims.")};
inline constexpr Key kReproduction = object("reproduction", kReproductionKeys,
                                            "Figures and claims of a paper, and how they follow.");

inline constexpr std::array<std::string_view, 1> kReproductionExamples{R"({
  "schema_version": 1, "kind": "reproduction", "name": "tiny", "title": "A ring",
  "citation": "Nobody: an example.",
  "runs": [{"id": "ring", "argv": ["collective", "--op", "allreduce", "--algorithm", "ring",
            "--ranks", "2,4,8", "--bytes", "1MB", "--latency", "10us", "--bandwidth", "1GB/s"]}],
  "figures": [{"id": "R1", "question": "How long does a ring take?",
    "x": {"title": "ranks", "scale": "log2"}, "y": {"title": "time", "unit": "ms"},
    "panels": [{"curves": [{"label": "ring", "run": "ring", "x": "ranks",
                            "y": "1000 * closed_form_s"}]}]}],
  "claims": [{"id": "slower", "figure": "R1", "text": "Eight ranks take longer than two.",
    "label": "abstract", "source": "this example", "reported": [1], "low": 1,
    "ours": [{"run": "ring", "where": {"ranks": 8}, "value": "closed_form_s / other_closed_form_s",
              "other": {"where": {"ranks": 2}}}]}]})"};
inline constexpr io::FileKind kReproductionFile{kReproduction.name, &kReproduction,
                                                kReproductionExamples};

} // namespace stepsim::reproduce::keys
