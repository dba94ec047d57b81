#include "cli/report/result_page.hpp"

#include "study/what_if_rows.hpp"

namespace stepsim::cli {

namespace {

using namespace io::rows;
using io::Json;
using io::Key;
using io::Written;

constexpr auto kDefault = std::to_array<Written<study::DefaultValue>>({
    io::row<&study::DefaultValue::pointer>("JSON pointer of the key."),
    io::row<&study::DefaultValue::value>("The value that was taken."),
    io::row<&study::DefaultValue::reason>("What it takes for granted."),
});
constexpr std::array kDefaultObject{object("defaults", io::kKeysOf<kDefault>, "One default.")};

constexpr std::array kSentence{text("sentences", "One sentence.")};
constexpr std::array kWarning{text("warnings", "One warning.")};

constexpr auto kRun = std::to_array<Written<ReportedRun>>({
    {text("answer", "How long a step takes, and what limits it.").required(),
     [](const ReportedRun& run) { return Json(answer_of(run.result)); }},
    {list("defaults", kDefaultObject, "Inputs that were defaults.").required(),
     [](const ReportedRun& run) { return io::write_all(kDefault, run.result.defaults); }},
    {list("what_if", study::kWhatIfObject, "What would help, the largest gain first.").required(),
     [](const ReportedRun& run) { return io::write_all(study::kWhatIf, run.what_if); }},
    {list("sentences", kSentence, "Where the time goes; none where it is not known.").required(),
     io::value_of<&ReportedRun::sentences>},
    {list("warnings", kWarning, "What to know about the result.").required(),
     [](const ReportedRun& run) { return io::list_of(run.result.warnings); }},
    {object("scenario", {}, "The scenario, which stepsim run takes (schema scenario).")
         .open()
         .required()
         .example("{}"),
     io::value_of<&ReportedRun::scenario>},
});
constexpr Key kReportResult = object("report_result", io::kKeysOf<kRun>,
                                     "What stepsim report --json writes of a result or scenario.");

constexpr auto kPageKnee = std::to_array<Written<plot::Point>>({
    io::row<&plot::Point::x>("Where it is."),
    io::row<&plot::Point::y>("Value of the first curve there, in the unit of the figure."),
});
constexpr std::array kVaried{text("varied", "Name of a field.")};

constexpr auto kRecords = std::to_array<Written<RecordsFacts>>({
    io::row<&RecordsFacts::answer>("How many points there are, and the best of them."),
    io::row<&RecordsFacts::points>("Points without an error.").in(io::at_least(0)),
    io::row<&RecordsFacts::failed>("Points with an error.").in(io::at_least(0)),
    {list("varied", kVaried, "Fields that differ between points.").required(),
     io::value_of<&RecordsFacts::varied>},
    {object("knee", io::kKeysOf<kPageKnee>, "Knee of the figure; null where it has none.")
         .nullable()
         .required(),
     [](const RecordsFacts& facts) { return io::write(kPageKnee, facts.knee); }},
});
constexpr Key kReportRecords =
    object("report_records", io::kKeysOf<kRecords>,
           "What stepsim report --json writes of a sweep or comparison.");

constexpr std::array<std::string_view, 1> kRunExamples{
    R"({"answer":"A step takes 2 s.","defaults":[{"pointer":"/training/update_s","reason":"updates take no time","value":0}],"scenario":{},"sentences":[],"warnings":[],"what_if":[{"change":"one network card per node more","gain":0.25,"iteration_time_s":1.5,"pointer":"/cluster/nics_per_node","set":["/cluster/nics_per_node=2"],"value":2}]})"};
constexpr std::array<std::string_view, 1> kRecordsExamples{
    R"({"answer":"8 points.","failed":0,"knee":{"x":4,"y":120},"points":8,"varied":["nodes"]})"};

} // namespace

io::Json report_facts(const ReportedRun& run) { return io::write(kRun, run); }
io::Json report_facts(const RecordsFacts& records) { return io::write(kRecords, records); }

io::FileKind report_result_kind() {
  return {kReportResult.name, &kReportResult, kRunExamples, false};
}
io::FileKind report_records_kind() {
  return {kReportRecords.name, &kReportRecords, kRecordsExamples, false};
}

} // namespace stepsim::cli
