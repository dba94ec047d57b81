// Examples and the rows of output lines. A line is read again by programs of others, so that its
// schema is open only where the varied fields are.
#include "study/sweep/sweep_keys.hpp"

#include "run/summary_keys.hpp"
#include "scenario/keys/named_file_keys.hpp"

namespace stepsim::study::keys {

namespace {

constexpr std::array<std::string_view, 1> kSweepExamples{R"({
  "schema_version": 1, "kind": "sweep",
  "scenario": {"workload": {"trace": "resnet50.ddp.2xa100"},
               "cluster": {"nodes": 16, "network": "10g-tcp"}},
  "axes": [
    {"field": "/cluster/nodes", "values": [4, 8, 16]},
    {"field": "/cluster/network/latency_s", "from": 1e-6, "to": 1e-4, "steps": 3,
     "scale": "log"}]})"};

constexpr std::array<std::string_view, 1> kHeaderWord{"header"};
constexpr std::array<std::string_view, 1> kPointWord{"point"};
constexpr std::array<std::string_view, 2> kStatusWords{"ok", "error"};

constexpr std::array kHeaderAxis{object("axes", kListedAxis, "One varied field.")};
constexpr std::array kAxisNumber{integer("zip", "Number of an axis, from 0.").in(io::at_least(0))};
constexpr std::array kZippedAxes{list("zip", kAxisNumber, "Axes that move together.")};

constexpr std::array kFigure{text("columns", "Key of a figure.")};

constexpr std::array kHeader{
    word("record", kHeaderWord, "Kind of the line.").required(),
    integer("schema_version", "Version of the format.").in(io::between(1, 1)).required(),
    text("tool", "Program and version.", R"("stepsim 0.1.0")").required(),
    integer("points_total", "Points of the whole grid.", io::at_least(0), "9").required(),
    text("grid_hash", "Hash of the scenario and the axes, 16 hexadecimal digits.",
         R"("0123456789abcdef")")
        .required(),
    integer("shard", "Part of the grid in this file, from 0.").in(io::at_least(0)).required(),
    integer("shards", "Number of parts.").in(io::at_least(1)).required(),
    list("axes", kHeaderAxis, "Varied fields.").required(),
    object("scenario", {},
           "Base scenario or collective, as every point starts from it; names of files are "
           "relative to this "
           "file.",
           R"({"workload": {"trace": "../traces/resnet50.json"}})")
        .open(),
    list("files", keys::kOneNamedFile, "Files that the scenario names, as they were then.",
         R"([{"pointer": "/workload/trace", "sha256": "00"}])"),
    list("columns", kFigure, "The figures of a record, in the order of --columns; absent for all.",
         R"(["speedup"])"),
    list("zip", kZippedAxes, "Axes that move together, by their numbers.", "[[0, 1]]"),
    integer("replications", "Runs of each point with other seeds, the fastest axis.",
            io::between(2, static_cast<double>(kMostReplications)), "3"),
    text("axes_folder", "Folder that names of files in axis values are relative to.",
         R"("../examples")")};

// Keys that every record has; those of the summary follow from its table.
constexpr std::array kPoint{
    word("record", kPointWord, "Kind of the line.").required(),
    integer("point", "Number of the point, from 0.").in(io::at_least(0)).required(),
    word("status", kStatusWords, "Whether the point has a result.").required(),
    word("method", evaluators, "Evaluator used; null where the point failed.")
        .nullable()
        .required(),
    text("error", "Why the point failed, in one line; null where it did not.")
        .nullable()
        .required()};

constexpr std::array kLines{
    object("header", kHeader, "The first line of a sweep's output."),
    object("point", kPoint, "One point. Besides these keys it has the varied fields.")
        .and_also(kFlatSummaryKeys)
        .open()};
constexpr io::Key kRecordRoot =
    either("point", kLines, "One line of a sweep's output: the header or a point.");

constexpr std::array<std::string_view, 2> kRecordExamples{
    R"({"record": "header", "schema_version": 1, "tool": "stepsim 0.1.0", "points_total": 9,
  "grid_hash": "0123456789abcdef", "shard": 0, "shards": 1,
  "axes": [{"field": "/cluster/nodes", "values": [4, 8, 16]}]})",
    R"({"record": "point", "point": 0, "status": "ok", "method": "closed_form", "error": null,
  "nodes": 4, "speedup": 3.9})"};

} // namespace

io::FileKind sweep_file() { return {"sweep", &kSweepRoot, kSweepExamples}; }

io::FileKind sweep_record() { return {"point", &kRecordRoot, kRecordExamples, false}; }

} // namespace stepsim::study::keys
