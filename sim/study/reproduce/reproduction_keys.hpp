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
    of<&Pivot::column>(text("Column whose values become columns.").required()),
    of<&Pivot::value>(text("Column whose numbers they hold.").by_default("value")),
    of<&Pivot::names>(map(kNewColumn, "Values of the column, and the names of the columns that "
                                      "they become; left out: the values themselves."))};
inline constexpr Key kPivot =
    object("pivot", io::kRowKeys<kPivotRows>,
           "Makes one record of those that differ in one column; a column of theirs is shared out "
           "to columns of the given names.");

inline constexpr std::array kExtraWord{text("words", "One word of the command line.")};
inline constexpr std::array kChoiceColumn{any("columns", "A number or a text.")};
inline constexpr std::array kChoiceRows{
    of<&Choice::columns>(map(kChoiceColumn, "Columns of the records that this choice gives.")),
    of<&Choice::words>(list(kExtraWord, "Words behind those of the command.")),
    of<&Choice::seeds>(integer("Number of seeds of this choice; the default is that of the run.")
                           .in(io::at_least(1)))};
inline constexpr std::array kChoice{object("vary", io::kRowKeys<kChoiceRows>, "One choice.")};
inline constexpr std::array kChoices{list("vary", kChoice, "Choices, of which one is taken.")};

inline constexpr std::array kRunRows{
    of<&Run::id>(text("Name of the run; its records are written to ID.jsonl.").required()),
    of<&Run::argv>(list(kWord, "The words of an ordinary stepsim command, without stepsim itself.")
                       .sizes(1)
                       .required()),
    of<&Run::rows>(text("JSON pointer of the list of records in a result that is one tree. By "
                        "default the result is written as JSON Lines, one record per line.")),
    by_hand<Run>(
        list("vary", kChoices,
             "Lists of choices: the command runs for every combination of one choice of each.")),
    of<&Run::seeds>(integer("Runs every combination with --seed 1, 2, .. up to this number; a "
                            "record holds the medians of its numbers.")
                        .in(io::at_least(1))),
    of<&Run::digits>(
        integer("Significant digits that the numbers of its records keep; default all.")
            .in(io::between(1, 17))),
    of<&Run::columns>(
        list(kColumnName, "Columns that are kept beside those of choices; default all.")),
    part<&Run::pivot, kPivotRows>(kPivot),
    of<&Run::slow>(
        boolean("The run takes long: --quick takes the records of `stored`.").by_default(false)),
    of<&Run::stored>(text("Records of an earlier run, JSON Lines, relative to this file."))};
inline constexpr std::array kRuns{object("runs", io::kRowKeys<kRunRows>, "One run.")};

inline constexpr std::array kTableRows{
    of<&Table::id>(text("Name of the table, as runs have one.").required()),
    of<&Table::file>(text("JSON, JSON Lines or CSV file with the numbers, relative to this file. "
                          "Of a CSV file whose column `values` holds lists, the records have their "
                          "median, least and greatest as value, low and high.")),
    bound<&Table::rows>(text("pointer", "JSON pointer of the list of records in the file.")),
    by_hand<Table>(list("columns", kColumnName, "Columns of `rows`.")),
    by_hand<Table>(list("rows", kRow, "The numbers themselves, instead of a file.")),
    part<&Table::pivot, kPivotRows>(kPivot),
    part<&Table::predict, kPredictRows>(
        object("predict", io::kRowKeys<kPredictRows>,
               "The rows are measured speeds of training (reproduce/scoreboard/README.md), each of "
               "which is predicted by these rules. Further tables follow from them: ID_sorted, "
               "ID_groups, ID_pairs and ID_ends.")),
    of<&Table::source>(
        text("Where the numbers come from: repository, commit and path, or DOI.").required()),
    of<&Table::label>(word(kLabels, "Who can vouch for the numbers; left out: they are our own."))};
inline constexpr std::array kTables{
    object("tables", io::kRowKeys<kTableRows>, "Numbers of one source.")};

inline constexpr std::array kOtherRows{
    of<&Other::run>(text("Run or table of the other record; the default is that of the record.")),
    of<&Other::where>(map(kWhereValue, "Columns of the other record with their values.")),
    of<&Other::match>(
        map(kMatchColumn,
            "Columns of the record, and the column of the other one that has the same value."))};
inline constexpr std::array kSeriesRows{
    of<&Series::run>(text("Run or table that the records are of.").required()),
    of<&Series::where>(
        map(kWhereValue, "Columns with their values: the records that have them count.")),
    of<&Series::when>(text("Formula: the records where it is above 0 count.")),
    part<&Series::other, kOtherRows>(object(
        "other", io::kRowKeys<kOtherRows>,
        "A second record for each record; formulas know its columns with other_ before them."))};

// The own keys of a part of a figure or a claim, read behind those of its series.
template <class Part, std::size_t N> struct WithSeries { std::array<io::Bound<Part>, N> rows; };
template <class Part, std::size_t N>
constexpr std::array<Key, N> keys_of(const WithSeries<Part, N>& table) {
  return io::keys_of(table.rows);
}
template <class Part, std::size_t N>
void read_bound(const WithSeries<Part, N>& table, io::Fields& fields, Part& part) {
  io::read_bound(kSeriesRows, fields, part.series);
  part.series.place = fields.json().pointer();
  io::read_bound(table.rows, fields, part);
}

inline constexpr WithSeries kCellRows{std::array{
    of<&Cell::value>(text("Formula over the columns of a record.").required()),
    of<&Cell::reduce>(word(kReduces,
                           "What makes one number of several records. same_best counts in how many "
                           "groups the least `value` and the least `with` are of one record.")
                          .by_default("one")),
    of<&Cell::group>(list(kColumnName, "Columns that the records of a group share.")),
    of<&Cell::with>(text("Formula of same_best."))}};
inline constexpr std::array kCells{object("ours", io::kRowKeys<kSeriesRows>, "One number of ours.")
                                       .and_also(io::kRowKeys<kCellRows>)};

inline constexpr WithSeries kCurveRows{std::array{
    of<&Curve::label>(text("Name in the legend.").required()),
    of<&Curve::x>(text("Formula of the place on the x axis.").required()),
    of<&Curve::y>(text("Formula of the value.").required()),
    of<&Curve::rank>(integer("Look of the line, from the darkest on.")
                         .in(io::between(0, plot::kRanks - 1))
                         .by_default(0)),
    of<&Curve::bold>(boolean("The curve that the question speaks of.").by_default(false)),
    of<&Curve::markers>(boolean("Whether its points have markers.").by_default(true))}};
inline constexpr std::array kCurves{
    object("curves", io::kRowKeys<kSeriesRows>, "One line.").and_also(io::kRowKeys<kCurveRows>)};

inline constexpr WithSeries kBandRows{
    std::array{of<&BandOf::label>(text("Name in the legend.").required()),
               of<&BandOf::x>(text("Formula of the place on the x axis.").required()),
               of<&BandOf::low>(text("Formula of the lower edge.").required()),
               of<&BandOf::high>(text("Formula of the upper edge.").required())}};
inline constexpr std::array kBands{
    object("bands", io::kRowKeys<kSeriesRows>, "One area.").and_also(io::kRowKeys<kBandRows>)};

void read_at(io::Fields& fields, const Key& key, MarkAt& mark); // a number, or a cell
inline constexpr std::array kMarkAt{
    number("at", "The value."), object("at", io::kRowKeys<kSeriesRows>, "The value, from records.")
                                    .and_also(io::kRowKeys<kCellRows>)};
inline constexpr std::array<std::string_view, 2> kMarkKinds{"vertical", "horizontal"};
inline constexpr std::array kMarkRows{
    of<&MarkAt::kind>(word(kMarkKinds, "Direction of the line.").by_default("vertical")),
    io::Bound<MarkAt>{either("at", kMarkAt, "Where it stands.").required(), read_at},
    of<&MarkAt::text>(text("What it says; {} stands for the value.").required())};
inline constexpr std::array kMarks{object("marks", io::kRowKeys<kMarkRows>, "One marked value.")};

inline constexpr WithSeries kBarRows{std::array{
    of<&BarOf::name>(text("Name under the bar.").by_default("")),
    of<&BarOf::first>(integer("Index of the part that the first formula is of.")
                          .in(io::at_least(0))
                          .by_default(0)),
    of<&BarOf::values>(
        list(kFormula, "Formulas of this part and those after it; other parts are not there.")
            .sizes(1)
            .required())}};
inline constexpr std::array kBar{
    object("bars", io::kRowKeys<kSeriesRows>, "One bar.").and_also(io::kRowKeys<kBarRows>)};
inline constexpr std::array kGroupRows{
    bound<&BarGroup::first>(text("name", "Name of the group.").required()),
    parts<&BarGroup::second, kBarRows>(list("bars", kBar, "Its bars.").required())};
inline constexpr std::array kGroups{
    object("groups", io::kRowKeys<kGroupRows>, "Bars beside each other.")};
inline constexpr std::array kPart{text("parts", "Name of a part in the legend.")};
inline constexpr std::array kBarsRows{
    of<&BarsOf::parts>(list(kPart, "Parts of a bar.").required()),
    parts<&BarsOf::groups, kGroupRows>(list("groups", kGroups, "Groups of bars.").required())};

inline constexpr WithSeries kLaneRows{
    std::array{of<&LaneOf::name>(text("Name of the lane.").required()),
               of<&LaneOf::start>(text("Formula of the start.").required()),
               of<&LaneOf::end>(text("Formula of the end.").required())}};
inline constexpr std::array kLanes{
    object("lanes", io::kRowKeys<kSeriesRows>, "One lane.").and_also(io::kRowKeys<kLaneRows>)};

inline constexpr std::array kAxisRows{
    of<&plot::Axis::title>(text("Title of the axis.").required()),
    of<&plot::Axis::unit>(text("Unit behind the title.").by_default("")),
    of<&plot::Axis::scale>(word(plot::kScales, "Scale.").by_default("linear")),
    of<&plot::Axis::ticks>(
        list(kTickValue, "Where ticks stand; the default follows from the data.")),
    of<&plot::Axis::low>(number("The axis begins at it, or below.")),
    of<&plot::Axis::high>(number("The axis ends at it, or above."))};

inline constexpr std::array kPanelRows{
    of<&PanelOf::title>(text("Title of the panel.").by_default("")),
    parts<&PanelOf::curves, kCurveRows>(list("curves", kCurves, "Lines of ours.")),
    parts<&PanelOf::reported, kCurveRows>(
        list("reported", kCurves, "Points that a paper reports, from tables.")),
    parts<&PanelOf::guides, kCurveRows>(
        list("guides", kCurves, "Thin grey lines: the ideal, or a bound.")),
    parts<&PanelOf::bands, kBandRows>(list("bands", kBands, "Areas between two curves.")),
    parts<&PanelOf::marks, kMarkRows>(list("marks", kMarks, "What the figure points at.")),
    part<&PanelOf::bars, kBarsRows>(
        object("bars", io::kRowKeys<kBarsRows>, "Bars instead of lines.")),
    of<&PanelOf::lane_parts>(list(kPart, "Name of all spans of the lanes, in the legend.")),
    parts<&PanelOf::lanes, kLaneRows>(list("lanes", kLanes, "Spans of time instead of lines.")),
    part<&PanelOf::x, kAxisRows>(object("x", io::kRowKeys<kAxisRows>, "Its own x axis.")),
    part<&PanelOf::y, kAxisRows>(object("y", io::kRowKeys<kAxisRows>, "Its own y axis."))};
inline constexpr std::array kPanels{object("panels", io::kRowKeys<kPanelRows>, "One panel.")};

inline constexpr WithSeries kComparisonRows{std::array{
    of<&Comparison::names>(list(kColumnName, "Columns that name a row.").required()),
    of<&Comparison::ours>(text("Formula of our number.").required()),
    of<&Comparison::low>(text("Formula of the lower end of our interval.")),
    of<&Comparison::high>(text("Formula of its upper end.")),
    of<&Comparison::theirs>(text("Formula of the published number.").required()),
    of<&Comparison::label>(text("Column with the label of a row, instead of that of the table.")),
    of<&Comparison::unit>(text("Unit of both.").by_default("")),
    of<&Comparison::limit>(
        number("Relative error above which a row is not met.").in(io::above(0)))}};
inline constexpr std::array kComparisons{
    object("comparisons", io::kRowKeys<kSeriesRows>, "One row per record.")
        .and_also(io::kRowKeys<kComparisonRows>)};

inline constexpr std::array kShownColumn{text("columns", "Column of the records.")};
inline constexpr WithSeries kRecordTableRows{std::array{of<&RecordTable::columns>(
    map(kShownColumn, "Columns of the table, by their titles.").required())}};
inline constexpr std::array kRecordTables{
    object("tables", io::kRowKeys<kSeriesRows>, "One row per record.")
        .and_also(io::kRowKeys<kRecordTableRows>)};

inline constexpr std::array kRunName{text("runs", "Id of a run.")};
inline constexpr std::array kFigureRows{
    of<&FigureOf::id>(text("Name of the figure; the picture is ID.svg.").required()),
    of<&FigureOf::question>(text("What the figure answers; its title.").required()),
    of<&FigureOf::setting>(text("The setting, in one line under the title.").by_default("")),
    of<&FigureOf::not_drawn>(text("Why there is no picture.")),
    part<&FigureOf::x, kAxisRows>(
        object("x", io::kRowKeys<kAxisRows>, "The x axis of all panels.")),
    part<&FigureOf::y, kAxisRows>(
        object("y", io::kRowKeys<kAxisRows>, "The y axis of all panels.")),
    parts<&FigureOf::panels, kPanelRows>(list("panels", kPanels, "Panels beside each other.")),
    parts<&FigureOf::comparisons, kComparisonRows>(
        list("comparisons", kComparisons, "Rows of the table: ours, theirs, label, difference.")),
    parts<&FigureOf::tables, kRecordTableRows>(
        list("tables", kRecordTables, "Further tables, of records.")),
    of<&FigureOf::note>(text("Remark below the table.").by_default("")),
    of<&FigureOf::runs>(list(kRunName, "Runs whose commands the page shows."))};
inline constexpr std::array kFigures{object("figures", io::kRowKeys<kFigureRows>, "One figure.")};

inline constexpr std::array kClaimRows{
    of<&Claim::id>(text("Name of the claim.").required()),
    of<&Claim::figure>(text("Figure that shows it.").required()),
    of<&Claim::text>(text("The claim, in one sentence.").required()),
    of<&Claim::label>(word(kLabels, "Who can vouch for it.").required()),
    of<&Claim::source>(text("Where it stands.").required()),
    of<&Claim::reported>(list(kNumber, "The numbers that are claimed.")),
    of<&Claim::theirs>(text("The claim in words, instead of numbers.").by_default("")),
    of<&Claim::unit>(text("Unit of the numbers.").by_default("")),
    parts<&Claim::ours, kCellRows>(
        list("ours", kCells, "Our numbers; left out: they cannot be compared.")),
    of<&Claim::low>(number("The claim is met where no number of ours is below it.")),
    of<&Claim::high>(number("The claim is met where no number of ours is above it.")),
    of<&Claim::free>(
        text("An input of ours that the paper does not give and that decides whether our numbers "
             "hold the claim: the verdict is then bracketed instead of met.")
            .by_default("")),
    of<&Claim::comparable>(
        boolean("False: our numbers stand beside theirs and decide nothing.").by_default(true)),
    of<&Claim::reason>(
        text("Why it is not met or cannot be compared, or what it means that it is met.")
            .by_default(""))};
inline constexpr std::array kClaims{object("claims", io::kRowKeys<kClaimRows>, "One claim.")};

inline constexpr std::array kReproductionRows{
    of<&Reproduction::title>(text("Title of the page.").required()),
    of<&Reproduction::citation>(
        text("Authors, title, place and identifier of the paper.").required()),
    of<&Reproduction::first>(list(kSentence, "Sentences at the top of the page.")),
    of<&Reproduction::words>(map(kOwnWord, "Names of methods and models, as readers know them.")),
    by_hand<Reproduction>(list("runs", kRuns, "Commands whose records are used.")),
    by_hand<Reproduction>(list("tables", kTables, "Numbers of others, and of slow studies.")),
    by_hand<Reproduction>(list("figures", kFigures, "Figures of the page.").required()),
    by_hand<Reproduction>(list("claims", kClaims, "Claims of the paper.")),
    of<&Reproduction::assumed>(list(kSentence, "What is assumed.")),
    of<&Reproduction::unreadable>(list(kSentence, "What we could not read.")),
    of<&Reproduction::successors>(list(kSentence, "Later papers, and what came of their claims."))};
inline constexpr Key kReproduction = object("reproduction", io::kRowKeys<kReproductionRows>,
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
