#pragma once
// The keys of a file of kind reproduction (REP 1): reproduce/PAPER/figures.json.

#include "document/fields/members.hpp"
#include "document/fields/schema.hpp"
#include "study/reproduce/reproduction.hpp"

namespace stepsim::reproduce::keys {

using namespace io::rows;
using io::Key;

// The element of a list or a map of objects; `Each` says what one is.
template <const auto& Rows, io::Literal Each>
inline constexpr std::array kEach{object({}, io::kRowKeys<Rows>, Each.view())};
// A list of objects, and one object, named as the member is.
template <auto Member, const auto& Rows, io::Literal Each>
constexpr auto parts_of(std::string_view sentence) {
  return parts<Member, Rows>(list(io::key_of<Member>(), kEach<Rows, Each>, sentence));
}
template <auto Member, const auto& Rows> constexpr auto part_of(std::string_view sentence) {
  return part<Member, Rows>(object(io::key_of<Member>(), io::kRowKeys<Rows>, sentence));
}

// The object `predict` of a table, the rules that predict measured speeds (REP 3.6).

inline constexpr std::array kBusRate{number("bandwidth_Bps", "Bytes/s of one ring.", io::above(0))};
inline constexpr std::array kFabricRows{
    of<&FabricRule::latency_s>(number("Latency of a message, s.").in(io::at_least(0)).required()),
    of<&FabricRule::share>(
        number("Share of the line rate that is payload.").in(io::above(0)).required()),
    of<&FabricRule::slow_Bps>(
        number("Up to this line rate slow_latency_s counts.").in(io::at_least(0)).by_default(0)),
    of<&FabricRule::slow_latency_s>(
        number("Latency of slow networks, s.").in(io::at_least(0)).by_default(0)),
    bound<&FabricRule::carrier>(
        word("transport", links::kCarriers, "Transport of rows that do not name one.").required())};
inline constexpr std::array kMethodRows{
    of<&MethodRule::schedule>(text("Schedule that sends as the method does.").required()),
    of<&MethodRule::servers>(
        word(kServerPlaces, "Where parameter servers run: one per machine on machines of their "
                            "own, one on each worker, or the processor of the one machine.")
            .by_default("none")),
    of<&MethodRule::host_reduction>(
        boolean("Whether the host's processor sums the gradients.").by_default(false))};
inline constexpr std::array kOptionValue{any("schedules", "Value of a key.")};
inline constexpr std::array kOptions{
    map("schedules", kOptionValue, "Keys of /communication that the schedule is run with.")};
inline constexpr std::array kScaledRows{
    of<&TableRule::model>(text("Shipped layer table.").required()),
    of<&TableRule::elements>(
        number("Elements that its tensors are scaled to.").in(io::above(0)).required())};
inline constexpr std::array kBusKind{
    word("bus_kinds", links::kBuses, "Kind of link between GPUs.")};

inline constexpr std::array kPredictRows{
    of<&Scoreboard::bus_latency_s>(
        number("Latency of links inside a machine, s.").in(io::at_least(0)).required()),
    of<&Scoreboard::buses>(
        map(kBusRate, "Links between the GPUs of a machine, by the word of the rows.").required()),
    of<&Scoreboard::bus_kinds>(
        map(kBusKind, "By the beginning of the rows' word for a bus; the first that fits counts.")
            .required()),
    parts<&Scoreboard::fabrics, kFabricRows>(
        map("fabrics", kEach<kFabricRows, "A kind of network.">,
            "Networks between machines, by the word of the rows.")
            .required()),
    parts<&Scoreboard::methods, kMethodRows>(map("methods",
                                                 kEach<kMethodRows, "A method of a source.">,
                                                 "Methods of exchange, by the word of the rows.")
                                                 .required()),
    of<&Scoreboard::schedules>(map(kOptions, "Settings of schedules.")),
    parts<&Scoreboard::tables, kScaledRows>(map("tables",
                                                kEach<kScaledRows, "A model without a table.">,
                                                "Layer tables that are made from shipped ones.")),
    of<&Scoreboard::other_table>(
        text("Shipped table that inline:NAME:PARAMETERS is made from if NAME is not in tables.")),
    of<&Scoreboard::interval>(
        number("Factor by which links are slowed and sped up for the interval of a prediction.")
            .in(io::at_least(1))
            .by_default(1)),
    of<&Scoreboard::publishers>(
        map(io::kTextElement<"What the rows are called in figures.">,
            "By the beginning of the rows' family; the first that fits counts.")),
    of<&Scoreboard::families>(
        map(io::kTextElement<"Family of the model.">,
            "By the beginning of the rows' model; the first that fits counts."))};

inline constexpr std::array kSentence{text("sentences", "One sentence.")};
inline constexpr std::array kWord{text("argv", "One word of the command line.")};
inline constexpr std::array kColumnName{text("columns", "Name of a column.")};
inline constexpr std::array kPart{text("parts", "Name of a part in the legend.")};
inline constexpr std::array kWhereValue{any("where", "Value of the column, a number or a text.")};
inline constexpr std::array kNumber{number("reported", "One number.")};
inline constexpr std::array kCellValue{any("rows", "A number, a text or null.")};
inline constexpr std::array kRow{list("rows", kCellValue, "One record, a value per column.")};
inline constexpr std::array kTickValue{number("ticks", "One tick.")};

inline constexpr std::array kPivotRows{
    of<&Pivot::column>(text("Column whose values become columns.").required()),
    of<&Pivot::value>(text("Column whose numbers they hold.").by_default("value")),
    of<&Pivot::names>(map(kColumnName, "Values of the column, and the names of the columns that "
                                       "they become; left out: the values themselves."))};
inline constexpr Key kPivot =
    object("pivot", io::kRowKeys<kPivotRows>,
           "Makes one record of those that differ in one column; a column of theirs is shared out "
           "to columns of the given names.");

inline constexpr std::array kChoiceColumn{any("columns", "A number or a text.")};
inline constexpr std::array kChoiceRows{
    of<&Choice::columns>(map(kChoiceColumn, "Columns of the records that this choice gives.")),
    of<&Choice::words>(list(kWord, "Words behind those of the command.")),
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

inline constexpr std::array kTableRows{
    of<&Table::id>(text("Name of the table, as runs have one.").required()),
    of<&Table::file>(text("JSON, JSON Lines or CSV file with the numbers, relative to this file. "
                          "Of a CSV file whose column `values` holds lists, the records have their "
                          "median, least and greatest as value, low and high.")),
    bound<&Table::rows>(text("pointer", "JSON pointer of the list of records in the file.")),
    by_hand<Table>(list("columns", kColumnName, "Columns of `rows`.")),
    by_hand<Table>(list("rows", kRow, "The numbers themselves, instead of a file.")),
    part<&Table::pivot, kPivotRows>(kPivot),
    part_of<&Table::predict, kPredictRows>(
        "The rows are measured speeds of training (reproduce/scoreboard/README.md), each of "
        "which is predicted by these rules. Further tables follow from them: ID_sorted, "
        "ID_groups, ID_pairs and ID_ends."),
    of<&Table::source>(
        text("Where the numbers come from: repository, commit and path, or DOI.").required()),
    of<&Table::label>(word(kLabels, "Who can vouch for the numbers; left out: they are our own."))};

inline constexpr std::array kOtherRows{
    of<&Other::run>(text("Run or table of the other record; the default is that of the record.")),
    of<&Other::where>(map(kWhereValue, "Columns of the other record with their values.")),
    of<&Other::match>(
        map(io::kTextElement<"Column of the other record.">,
            "Columns of the record, and the column of the other one that has the same value."))};
inline constexpr std::array kSeriesRows{
    of<&Series::run>(text("Run or table that the records are of.").required()),
    of<&Series::where>(
        map(kWhereValue, "Columns with their values: the records that have them count.")),
    of<&Series::when>(text("Formula: the records where it is above 0 count.")),
    part_of<&Series::other, kOtherRows>(
        "A second record for each record; formulas know its columns with other_ before them.")};

// The own keys of a part of a figure or a claim, read behind those of its series.
template <class Part, std::size_t N> struct WithSeries { std::array<io::Bound<Part>, N> rows; };
template <class Part, std::size_t N>
WithSeries(std::array<io::Bound<Part>, N>) -> WithSeries<Part, N>;
template <class Part, std::size_t N> constexpr auto keys_of(const WithSeries<Part, N>& table) {
  return io::joined_keys(io::kRowKeys<kSeriesRows>, io::keys_of(table.rows));
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

inline constexpr WithSeries kCurveRows{std::array{
    of<&Curve::label>(text("Name in the legend.").required()),
    of<&Curve::x>(text("Formula of the place on the x axis.").required()),
    of<&Curve::y>(text("Formula of the value.").required()),
    of<&Curve::rank>(integer("Look of the line, from the darkest on.")
                         .in(io::between(0, plot::kRanks - 1))
                         .by_default(0)),
    of<&Curve::bold>(boolean("The curve that the question speaks of.").by_default(false)),
    of<&Curve::markers>(boolean("Whether its points have markers.").by_default(true))}};

inline constexpr WithSeries kBandRows{
    std::array{of<&BandOf::label>(text("Name in the legend.").required()),
               of<&BandOf::x>(text("Formula of the place on the x axis.").required()),
               of<&BandOf::low>(text("Formula of the lower edge.").required()),
               of<&BandOf::high>(text("Formula of the upper edge.").required())}};

void read_at(io::Fields& fields, const Key& key, MarkAt& mark); // a number, or a cell
inline constexpr std::array kMarkAt{
    number("at", "The value."), object("at", io::kRowKeys<kCellRows>, "The value, from records.")};
inline constexpr std::array<std::string_view, 2> kMarkKinds{"vertical", "horizontal"};
inline constexpr std::array kMarkRows{
    of<&MarkAt::kind>(word(kMarkKinds, "Direction of the line.").by_default("vertical")),
    io::Bound<MarkAt>{either("at", kMarkAt, "Where it stands.").required(), read_at},
    of<&MarkAt::text>(text("What it says; {} stands for the value.").required())};

inline constexpr WithSeries kBarRows{std::array{
    of<&BarOf::name>(text("Name under the bar.").by_default("")),
    of<&BarOf::first>(integer("Index of the part that the first formula is of.")
                          .in(io::at_least(0))
                          .by_default(0)),
    of<&BarOf::values>(list(io::kTextElement<"Formula over the columns of the record.">,
                            "Formulas of this part and those after it; other parts are not there.")
                           .sizes(1)
                           .required())}};
inline constexpr std::array kGroupRows{
    bound<&BarGroup::first>(text("name", "Name of the group.").required()),
    parts<&BarGroup::second, kBarRows>(
        list("bars", kEach<kBarRows, "One bar.">, "Its bars.").required())};
inline constexpr std::array kBarsRows{
    of<&BarsOf::parts>(list(kPart, "Parts of a bar.").required()),
    parts<&BarsOf::groups, kGroupRows>(
        list("groups", kEach<kGroupRows, "Bars beside each other.">, "Groups of bars.")
            .required())};

inline constexpr WithSeries kLaneRows{
    std::array{of<&LaneOf::name>(text("Name of the lane.").required()),
               of<&LaneOf::start>(text("Formula of the start.").required()),
               of<&LaneOf::end>(text("Formula of the end.").required())}};

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
    parts_of<&PanelOf::curves, kCurveRows, "One line.">("Lines of ours."),
    parts_of<&PanelOf::reported, kCurveRows, "One line.">(
        "Points that a paper reports, from tables."),
    parts_of<&PanelOf::guides, kCurveRows, "One line.">("Thin grey lines: the ideal, or a bound."),
    parts_of<&PanelOf::bands, kBandRows, "One area.">("Areas between two curves."),
    parts_of<&PanelOf::marks, kMarkRows, "One marked value.">("What the figure points at."),
    part_of<&PanelOf::bars, kBarsRows>("Bars instead of lines."),
    of<&PanelOf::lane_parts>(list(kPart, "Name of all spans of the lanes, in the legend.")),
    parts_of<&PanelOf::lanes, kLaneRows, "One lane.">("Spans of time instead of lines."),
    part_of<&PanelOf::x, kAxisRows>("Its own x axis."),
    part_of<&PanelOf::y, kAxisRows>("Its own y axis.")};

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

inline constexpr WithSeries kRecordTableRows{std::array{of<&RecordTable::columns>(
    map(io::kTextElement<"Column of the records.">, "Columns of the table, by their titles.")
        .required())}};

inline constexpr std::array kFigureRows{
    of<&FigureOf::id>(text("Name of the figure; the picture is ID.svg.").required()),
    of<&FigureOf::question>(text("What the figure answers; its title.").required()),
    of<&FigureOf::setting>(text("The setting, in one line under the title.").by_default("")),
    of<&FigureOf::not_drawn>(text("Why there is no picture.")),
    part_of<&FigureOf::x, kAxisRows>("The x axis of all panels."),
    part_of<&FigureOf::y, kAxisRows>("The y axis of all panels."),
    parts_of<&FigureOf::panels, kPanelRows, "One panel.">("Panels beside each other."),
    parts_of<&FigureOf::comparisons, kComparisonRows, "One row per record.">(
        "Rows of the table: ours, theirs, label, difference."),
    parts_of<&FigureOf::tables, kRecordTableRows, "One row per record.">(
        "Further tables, of records."),
    of<&FigureOf::note>(text("Remark below the table.").by_default("")),
    of<&FigureOf::runs>(
        list(io::kTextElement<"Id of a run.">, "Runs whose commands the page shows."))};

inline constexpr std::array kClaimRows{
    of<&Claim::id>(text("Name of the claim.").required()),
    of<&Claim::figure>(text("Figure that shows it.").required()),
    of<&Claim::text>(text("The claim, in one sentence.").required()),
    of<&Claim::label>(word(kLabels, "Who can vouch for it.").required()),
    of<&Claim::source>(text("Where it stands.").required()),
    of<&Claim::reported>(list(kNumber, "The numbers that are claimed.")),
    of<&Claim::theirs>(text("The claim in words, instead of numbers.").by_default("")),
    of<&Claim::unit>(text("Unit of the numbers.").by_default("")),
    parts_of<&Claim::ours, kCellRows, "One number of ours.">(
        "Our numbers; left out: they cannot be compared."),
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

inline constexpr std::array kReproductionRows{
    of<&Reproduction::title>(text("Title of the page.").required()),
    of<&Reproduction::citation>(
        text("Authors, title, place and identifier of the paper.").required()),
    of<&Reproduction::first>(list(kSentence, "Sentences at the top of the page.")),
    of<&Reproduction::words>(map(io::kTextElement<"Name that readers know it by.">,
                                 "Names of methods and models, as readers know them.")),
    by_hand<Reproduction>(
        list("runs", kEach<kRunRows, "One run.">, "Commands whose records are used.")),
    by_hand<Reproduction>(list("tables", kEach<kTableRows, "Numbers of one source.">,
                               "Numbers of others, and of slow studies.")),
    by_hand<Reproduction>(
        list("figures", kEach<kFigureRows, "One figure.">, "Figures of the page.").required()),
    by_hand<Reproduction>(list("claims", kEach<kClaimRows, "One claim.">, "Claims of the paper.")),
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
