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
inline constexpr std::array kPivotRows{
    bound<&Pivot::column>(text("column", "Column whose values become columns.").required()),
    bound<&Pivot::value>(text("value", "Column whose numbers they hold.").by_default("value")),
    bound<&Pivot::names>(map(
        "names", kNewColumn,
        "Values of the column, and the names of the columns that they become; left out: the values "
        "themselves."))};
inline constexpr auto kPivotKeys = io::keys_of(kPivotRows);
inline constexpr Key kPivot = object(
    "pivot", kPivotKeys,
    "Makes one record of those that differ in one column; a column of theirs is shared out to "
    "columns of the given names.");

inline constexpr std::array kExtraWord{text("words", "One word of the command line.")};
inline constexpr std::array kChoiceColumn{any("columns", "A number or a text.")};
inline constexpr std::array kChoiceRows{
    bound<&Choice::columns>(
        map("columns", kChoiceColumn, "Columns of the records that this choice gives.")),
    bound<&Choice::words>(list("words", kExtraWord, "Words behind those of the command.")),
    bound<&Choice::seeds>(
        integer("seeds", "Number of seeds of this choice; the default is that of the run.")
            .in(io::at_least(1)))};
inline constexpr auto kChoiceKeys = io::keys_of(kChoiceRows);
inline constexpr std::array kChoice{object("vary", kChoiceKeys, "One choice.")};
inline constexpr std::array kChoices{list("vary", kChoice, "Choices, of which one is taken.")};

inline constexpr std::array kRunRows{
    bound<&Run::id>(text("id", "Name of the run; its records are written to ID.jsonl.").required()),
    bound<&Run::argv>(
        list("argv", kWord, "The words of an ordinary stepsim command, without stepsim itself.")
            .sizes(1)
            .required()),
    bound<&Run::rows>(text(
        "rows",
        "JSON pointer of the list of records in a result that is one tree. By default the result "
        "is written as JSON Lines, one record per line.")),
    by_hand<Run>(
        list("vary", kChoices,
             "Lists of choices: the command runs for every combination of one choice of each.")),
    bound<&Run::seeds>(
        integer("seeds",
                "Runs every combination with --seed 1, 2, .. up to this number; a record holds the "
                "medians of its numbers.")
            .in(io::at_least(1))),
    bound<&Run::digits>(
        integer("digits", "Significant digits that the numbers of its records keep; default all.")
            .in(io::between(1, 17))),
    bound<&Run::columns>(list("columns", kColumnName,
                              "Columns that are kept beside those of choices; default all.")),
    part<&Run::pivot, kPivotRows>(kPivot),
    bound<&Run::slow>(boolean("slow", "The run takes long: --quick takes the records of `stored`.")
                          .by_default(false)),
    bound<&Run::stored>(
        text("stored", "Records of an earlier run, JSON Lines, relative to this file."))};
inline constexpr auto kRunKeys = io::keys_of(kRunRows);
inline constexpr std::array kRuns{object("runs", kRunKeys, "One run.")};

inline constexpr std::array kTableRows{
    bound<&Table::id>(text("id", "Name of the table, as runs have one.").required()),
    bound<&Table::file>(text(
        "file", "JSON, JSON Lines or CSV file with the numbers, relative to this file. Of a CSV "
                "file whose column `values` holds lists, the records have their median, least and "
                "greatest as value, low and high.")),
    bound<&Table::rows>(text("pointer", "JSON pointer of the list of records in the file.")),
    by_hand<Table>(list("columns", kColumnName, "Columns of `rows`.")),
    by_hand<Table>(list("rows", kRow, "The numbers themselves, instead of a file.")),
    part<&Table::pivot, kPivotRows>(kPivot),
    part<&Table::predict, kPredictRows>(
        object("predict", kPredictKeys,
               "The rows are measured speeds of training (reproduce/scoreboard/README.md), each of "
               "which is predicted by these rules. Further tables follow from them: ID_sorted, "
               "ID_groups, ID_pairs and ID_ends.")),
    bound<&Table::source>(
        text("source", "Where the numbers come from: repository, commit and path, or DOI.")
            .required()),
    bound<&Table::label>(
        word("label", kLabels, "Who can vouch for the numbers; left out: they are our own."))};
inline constexpr auto kTableKeys = io::keys_of(kTableRows);
inline constexpr std::array kTables{object("tables", kTableKeys, "Numbers of one source.")};

inline constexpr std::array kOtherRows{
    bound<&Other::run>(
        text("run", "Run or table of the other record; the default is that of the record.")),
    bound<&Other::where>(
        map("where", kWhereValue, "Columns of the other record with their values.")),
    bound<&Other::match>(
        map("match", kMatchColumn,
            "Columns of the record, and the column of the other one that has the same value."))};
inline constexpr auto kOtherKeys = io::keys_of(kOtherRows);
inline constexpr std::array kSeriesRows{
    bound<&Series::run>(text("run", "Run or table that the records are of.").required()),
    bound<&Series::where>(
        map("where", kWhereValue, "Columns with their values: the records that have them count.")),
    bound<&Series::when>(text("when", "Formula: the records where it is above 0 count.")),
    part<&Series::other, kOtherRows>(object(
        "other", kOtherKeys,
        "A second record for each record; formulas know its columns with other_ before them."))};
inline constexpr auto kSeriesKeys = io::keys_of(kSeriesRows);

// The own keys of a part of a figure or a claim, read behind those of its series.
template <class Part, std::size_t N> struct WithSeries { std::array<io::Bound<Part>, N> rows; };
template <class Part, std::size_t N>
void read_bound(const WithSeries<Part, N>& table, io::Fields& fields, Part& part) {
  io::read_bound(kSeriesRows, fields, part.series);
  part.series.place = fields.json().pointer();
  io::read_bound(table.rows, fields, part);
}

inline constexpr WithSeries kCellRows{std::array{
    bound<&Cell::value>(text("value", "Formula over the columns of a record.").required()),
    bound<&Cell::reduce>(word("reduce", kReduces,
                              "What makes one number of several records. same_best counts in how "
                              "many groups the least "
                              "`value` and the least `with` are of one record.")
                             .by_default("one")),
    bound<&Cell::group>(list("group", kColumnName, "Columns that the records of a group share.")),
    bound<&Cell::with>(text("with", "Formula of same_best."))}};
inline constexpr auto kCellKeys = io::keys_of(kCellRows.rows);
inline constexpr std::array kCells{
    object("ours", kSeriesKeys, "One number of ours.").and_also(kCellKeys)};

inline constexpr WithSeries kCurveRows{
    std::array{bound<&Curve::label>(text("label", "Name in the legend.").required()),
               bound<&Curve::x>(text("x", "Formula of the place on the x axis.").required()),
               bound<&Curve::y>(text("y", "Formula of the value.").required()),
               bound<&Curve::rank>(integer("rank", "Look of the line, from the darkest on.")
                                       .in(io::between(0, plot::kRanks - 1))
                                       .by_default(0)),
               bound<&Curve::bold>(
                   boolean("bold", "The curve that the question speaks of.").by_default(false)),
               bound<&Curve::markers>(
                   boolean("markers", "Whether its points have markers.").by_default(true))}};
inline constexpr auto kCurveKeys = io::keys_of(kCurveRows.rows);
inline constexpr std::array kCurves{
    object("curves", kSeriesKeys, "One line.").and_also(kCurveKeys)};

inline constexpr WithSeries kBandRows{
    std::array{bound<&BandOf::label>(text("label", "Name in the legend.").required()),
               bound<&BandOf::x>(text("x", "Formula of the place on the x axis.").required()),
               bound<&BandOf::low>(text("low", "Formula of the lower edge.").required()),
               bound<&BandOf::high>(text("high", "Formula of the upper edge.").required())}};
inline constexpr auto kBandKeys = io::keys_of(kBandRows.rows);
inline constexpr std::array kBands{object("bands", kSeriesKeys, "One area.").and_also(kBandKeys)};

void read_at(io::Fields& fields, const Key& key, MarkAt& mark); // a number, or a cell
inline constexpr std::array kMarkAt{
    number("at", "The value."),
    object("at", kSeriesKeys, "The value, from records.").and_also(kCellKeys)};
inline constexpr std::array<std::string_view, 2> kMarkKinds{"vertical", "horizontal"};
inline constexpr std::array kMarkRows{
    bound<&MarkAt::kind>(word("kind", kMarkKinds, "Direction of the line.").by_default("vertical")),
    io::Bound<MarkAt>{either("at", kMarkAt, "Where it stands.").required(), read_at},
    bound<&MarkAt::text>(text("text", "What it says; {} stands for the value.").required())};
inline constexpr auto kMarkKeys = io::keys_of(kMarkRows);
inline constexpr std::array kMarks{object("marks", kMarkKeys, "One marked value.")};

inline constexpr WithSeries kBarRows{std::array{
    bound<&BarOf::name>(text("name", "Name under the bar.").by_default("")),
    bound<&BarOf::first>(integer("first", "Index of the part that the first formula is of.")
                             .in(io::at_least(0))
                             .by_default(0)),
    bound<&BarOf::values>(
        list("values", kFormula,
             "Formulas of this part and those after it; other parts are not there.")
            .sizes(1)
            .required())}};
inline constexpr auto kBarKeys = io::keys_of(kBarRows.rows);
inline constexpr std::array kBar{object("bars", kSeriesKeys, "One bar.").and_also(kBarKeys)};
inline constexpr std::array kGroupRows{
    bound<&BarGroup::first>(text("name", "Name of the group.").required()),
    parts<&BarGroup::second, kBarRows>(list("bars", kBar, "Its bars.").required())};
inline constexpr auto kGroupKeys = io::keys_of(kGroupRows);
inline constexpr std::array kGroups{object("groups", kGroupKeys, "Bars beside each other.")};
inline constexpr std::array kPart{text("parts", "Name of a part in the legend.")};
inline constexpr std::array kBarsRows{
    bound<&BarsOf::parts>(list("parts", kPart, "Parts of a bar.").required()),
    parts<&BarsOf::groups, kGroupRows>(list("groups", kGroups, "Groups of bars.").required())};
inline constexpr auto kBarsKeys = io::keys_of(kBarsRows);

inline constexpr WithSeries kLaneRows{
    std::array{bound<&LaneOf::name>(text("name", "Name of the lane.").required()),
               bound<&LaneOf::start>(text("start", "Formula of the start.").required()),
               bound<&LaneOf::end>(text("end", "Formula of the end.").required())}};
inline constexpr auto kLaneKeys = io::keys_of(kLaneRows.rows);
inline constexpr std::array kLanes{object("lanes", kSeriesKeys, "One lane.").and_also(kLaneKeys)};

inline constexpr std::array kAxisRows{
    bound<&plot::Axis::title>(text("title", "Title of the axis.").required()),
    bound<&plot::Axis::unit>(text("unit", "Unit behind the title.").by_default("")),
    bound<&plot::Axis::scale>(word("scale", plot::kScales, "Scale.").by_default("linear")),
    bound<&plot::Axis::ticks>(
        list("ticks", kTickValue, "Where ticks stand; the default follows from the data.")),
    bound<&plot::Axis::low>(number("low", "The axis begins at it, or below.")),
    bound<&plot::Axis::high>(number("high", "The axis ends at it, or above."))};
inline constexpr auto kAxisKeys = io::keys_of(kAxisRows);

inline constexpr std::array kPanelRows{
    bound<&PanelOf::title>(text("title", "Title of the panel.").by_default("")),
    parts<&PanelOf::curves, kCurveRows>(list("curves", kCurves, "Lines of ours.")),
    parts<&PanelOf::reported, kCurveRows>(
        list("reported", kCurves, "Points that a paper reports, from tables.")),
    parts<&PanelOf::guides, kCurveRows>(
        list("guides", kCurves, "Thin grey lines: the ideal, or a bound.")),
    parts<&PanelOf::bands, kBandRows>(list("bands", kBands, "Areas between two curves.")),
    parts<&PanelOf::marks, kMarkRows>(list("marks", kMarks, "What the figure points at.")),
    part<&PanelOf::bars, kBarsRows>(object("bars", kBarsKeys, "Bars instead of lines.")),
    bound<&PanelOf::lane_parts>(
        list("lane_parts", kPart, "Name of all spans of the lanes, in the legend.")),
    parts<&PanelOf::lanes, kLaneRows>(list("lanes", kLanes, "Spans of time instead of lines.")),
    part<&PanelOf::x, kAxisRows>(object("x", kAxisKeys, "Its own x axis.")),
    part<&PanelOf::y, kAxisRows>(object("y", kAxisKeys, "Its own y axis."))};
inline constexpr auto kPanelKeys = io::keys_of(kPanelRows);
inline constexpr std::array kPanels{object("panels", kPanelKeys, "One panel.")};

inline constexpr WithSeries kComparisonRows{std::array{
    bound<&Comparison::names>(list("names", kColumnName, "Columns that name a row.").required()),
    bound<&Comparison::ours>(text("ours", "Formula of our number.").required()),
    bound<&Comparison::low>(text("low", "Formula of the lower end of our interval.")),
    bound<&Comparison::high>(text("high", "Formula of its upper end.")),
    bound<&Comparison::theirs>(text("theirs", "Formula of the published number.").required()),
    bound<&Comparison::label>(
        text("label", "Column with the label of a row, instead of that of the table.")),
    bound<&Comparison::unit>(text("unit", "Unit of both.").by_default("")),
    bound<&Comparison::limit>(
        number("limit", "Relative error above which a row is not met.").in(io::above(0)))}};
inline constexpr auto kComparisonKeys = io::keys_of(kComparisonRows.rows);
inline constexpr std::array kComparisons{
    object("comparisons", kSeriesKeys, "One row per record.").and_also(kComparisonKeys)};

inline constexpr std::array kShownColumn{text("columns", "Column of the records.")};
inline constexpr WithSeries kRecordTableRows{std::array{bound<&RecordTable::columns>(
    map("columns", kShownColumn, "Columns of the table, by their titles.").required())}};
inline constexpr auto kRecordTableKeys = io::keys_of(kRecordTableRows.rows);
inline constexpr std::array kRecordTables{
    object("tables", kSeriesKeys, "One row per record.").and_also(kRecordTableKeys)};

inline constexpr std::array kRunName{text("runs", "Id of a run.")};
inline constexpr std::array kFigureRows{
    bound<&FigureOf::id>(text("id", "Name of the figure; the picture is ID.svg.").required()),
    bound<&FigureOf::question>(text("question", "What the figure answers; its title.").required()),
    bound<&FigureOf::setting>(
        text("setting", "The setting, in one line under the title.").by_default("")),
    bound<&FigureOf::not_drawn>(text("not_drawn", "Why there is no picture.")),
    part<&FigureOf::x, kAxisRows>(object("x", kAxisKeys, "The x axis of all panels.")),
    part<&FigureOf::y, kAxisRows>(object("y", kAxisKeys, "The y axis of all panels.")),
    parts<&FigureOf::panels, kPanelRows>(list("panels", kPanels, "Panels beside each other.")),
    parts<&FigureOf::comparisons, kComparisonRows>(
        list("comparisons", kComparisons, "Rows of the table: ours, theirs, label, difference.")),
    parts<&FigureOf::tables, kRecordTableRows>(
        list("tables", kRecordTables, "Further tables, of records.")),
    bound<&FigureOf::note>(text("note", "Remark below the table.").by_default("")),
    bound<&FigureOf::runs>(list("runs", kRunName, "Runs whose commands the page shows."))};
inline constexpr auto kFigureKeys = io::keys_of(kFigureRows);
inline constexpr std::array kFigures{object("figures", kFigureKeys, "One figure.")};

inline constexpr std::array kClaimRows{
    bound<&Claim::id>(text("id", "Name of the claim.").required()),
    bound<&Claim::figure>(text("figure", "Figure that shows it.").required()),
    bound<&Claim::text>(text("text", "The claim, in one sentence.").required()),
    bound<&Claim::label>(word("label", kLabels, "Who can vouch for it.").required()),
    bound<&Claim::source>(text("source", "Where it stands.").required()),
    bound<&Claim::reported>(list("reported", kNumber, "The numbers that are claimed.")),
    bound<&Claim::theirs>(text("theirs", "The claim in words, instead of numbers.").by_default("")),
    bound<&Claim::unit>(text("unit", "Unit of the numbers.").by_default("")),
    parts<&Claim::ours, kCellRows>(
        list("ours", kCells, "Our numbers; left out: they cannot be compared.")),
    bound<&Claim::low>(number("low", "The claim is met where no number of ours is below it.")),
    bound<&Claim::high>(number("high", "The claim is met where no number of ours is above it.")),
    bound<&Claim::free>(
        text("free",
             "An input of ours that the paper does not give and that decides whether our numbers "
             "hold the claim: the verdict is then bracketed instead of met.")
            .by_default("")),
    bound<&Claim::comparable>(
        boolean("comparable", "False: our numbers stand beside theirs and decide nothing.")
            .by_default(true)),
    bound<&Claim::reason>(
        text("reason", "Why it is not met or cannot be compared, or what it means that it is met.")
            .by_default(""))};
inline constexpr auto kClaimKeys = io::keys_of(kClaimRows);
inline constexpr std::array kClaims{object("claims", kClaimKeys, "One claim.")};

inline constexpr std::array kReproductionRows{
    bound<&Reproduction::title>(text("title", "Title of the page.").required()),
    bound<&Reproduction::citation>(
        text("citation", "Authors, title, place and identifier of the paper.").required()),
    bound<&Reproduction::first>(list("first", kSentence, "Sentences at the top of the page.")),
    bound<&Reproduction::words>(
        map("words", kOwnWord, "Names of methods and models, as readers know them.")),
    by_hand<Reproduction>(list("runs", kRuns, "Commands whose records are used.")),
    by_hand<Reproduction>(list("tables", kTables, "Numbers of others, and of slow studies.")),
    by_hand<Reproduction>(list("figures", kFigures, "Figures of the page.").required()),
    by_hand<Reproduction>(list("claims", kClaims, "Claims of the paper.")),
    bound<&Reproduction::assumed>(list("assumed", kSentence, "What is assumed.")),
    bound<&Reproduction::unreadable>(list("unreadable", kSentence, "What we could not read.")),
    bound<&Reproduction::successors>(
        list("successors", kSentence, "Later papers, and what came of their claims."))};
inline constexpr auto kReproductionKeys = io::keys_of(kReproductionRows);
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
