#include "study/trace_study.hpp"

#include "study/what_if_rows.hpp"

namespace stepsim::study {

namespace {

using namespace io::rows;
using io::Json;
using io::Key;
using io::Written;

constexpr Key time_row(std::string_view name, std::string_view sentence) {
  return number(name, sentence).required();
}
Json end_of(const PredictedStep& step, double base::Band::*end) {
  return step.band ? Json((*step.band).*end) : Json();
}

constexpr auto kPart = std::to_array<Written<GapPart>>({
    io::row<&GapPart::key>("part", "host, input, waiting, exchange, other_collectives or rest."),
    io::row<&GapPart::words>("What it is."),
    io::row<&GapPart::seconds>(
        "Seconds of the step; below 0 where the step has less than predicted."),
});
constexpr std::array kPartObject{object("gap", io::kKeysOf<kPart>, "One part.")};

constexpr auto kAnswer = std::to_array<Written<TraceAnswer>>({
    {text("node_type", "Node type that the trace's GPU is in.").required(),
     [](const TraceAnswer& each) { return Json(each.machine.node_type); }},
    {integer("nodes", "Machines of the trace.").in(io::at_least(1)).required(),
     [](const TraceAnswer& each) { return Json(each.machine.nodes); }},
    {integer("gpus_per_node", "GPUs of a machine that took part.").in(io::at_least(1)).required(),
     [](const TraceAnswer& each) { return Json(each.machine.gpus_per_node); }},
    {integer("steps", "Steps that were measured, on every rank that was recorded.")
         .in(io::at_least(1))
         .required(),
     [](const TraceAnswer& each) { return Json(each.gap.times.steps); }},
    {time_row("measured_s", "Mean measured step, over steps and ranks, s."),
     [](const TraceAnswer& each) { return Json(each.gap.times.step_s); }},
    {time_row("ideal_s", "Step of the trace's kernels over ideal links, s."),
     [](const TraceAnswer& each) { return Json(each.gap.ideal_s); }},
    {list("gap", kPartObject, "Parts of the measured step beyond ideal_s, which add up to it.")
         .required(),
     [](const TraceAnswer& each) { return io::write_all(kPart, each.gap.parts); }},
    {time_row("stretch", "Carried: the factor on the times of layers and update."),
     [](const TraceAnswer& each) { return Json(each.carried.stretch); }},
    {time_row("input_s", "Carried: input of a micro-batch that nothing hides, s."),
     [](const TraceAnswer& each) { return Json(each.carried.input_s); }},
    io::row<&TraceAnswer::sync_s>("Carried: time of each exchange that nothing else explains, s."),
    {time_row("step_s", "Step that is predicted of the same machine with what is carried, s."),
     [](const TraceAnswer& each) { return Json(each.predicted.step_s); }},
    {number("step_low_s", "Low end of the interval of 80 %, s; null under ideal conditions.")
         .nullable()
         .required(),
     [](const TraceAnswer& each) { return end_of(each.predicted, &base::Band::low); }},
    {number("step_high_s", "High end of it, s.").nullable().required(),
     [](const TraceAnswer& each) { return end_of(each.predicted, &base::Band::high); }},
    io::row<&TraceAnswer::other_half_s>(
        "second_half_s", "Mean of the second half of the steps, s; null of one step."),
    io::row<&TraceAnswer::predicted_half_s>("second_half_predicted_s",
                                            "What the first half alone predicts of it, s."),
});

constexpr auto kLibrary = std::to_array<Written<LibraryFromLogs>>({
    {integer("points", "Measured times of the logs.").in(io::at_least(1)).required(),
     [](const LibraryFromLogs& each) { return Json(static_cast<std::int64_t>(each.points)); }},
    {number("median_error", "Median error on shapes, or sizes, left out of the fit.").required(),
     [](const LibraryFromLogs& each) { return Json(each.left_out.median); }},
    {number("p90_error", "90th percentile of the same errors.").required(),
     [](const LibraryFromLogs& each) { return Json(each.left_out.p90); }},
});

constexpr auto kStudyPoint = std::to_array<Written<StudyPoint>>({
    io::row<&StudyPoint::gpus>("Number of GPUs.").in(io::at_least(1)),
    {time_row("step_s", "Time of a step, s."),
     [](const StudyPoint& each) { return Json(each.step.step_s); }},
    {number("step_low_s", "Low end of the interval of 80 %, s; null under ideal conditions.")
         .nullable()
         .required(),
     [](const StudyPoint& each) { return end_of(each.step, &base::Band::low); }},
    {number("step_high_s", "High end of it, s.").nullable().required(),
     [](const StudyPoint& each) { return end_of(each.step, &base::Band::high); }},
    io::row<&StudyPoint::samples_per_s>(
        "Samples of all GPUs per second; null without a batch size."),
    io::row<&StudyPoint::efficiency>("Speed-up per GPU."),
    io::row<&StudyPoint::bottleneck>("What bounds the step."),
});
constexpr std::array kPointObject{
    object("points", io::kKeysOf<kStudyPoint>, "One number of GPUs.")};

constexpr std::array kAssumed{text("assumed", "One choice.")};
constexpr std::array kStudyWarning{text("warnings", "One warning.")};

constexpr auto kStudy = std::to_array<Written<TraceStudy>>({
    {integer("schema_version", "Version of the format.").in(io::between(1, 1)).required(),
     [](const TraceStudy&) { return Json(1); }},
    {text("kind", "study").required(), [](const TraceStudy&) { return Json("study"); }},
    io::row<&TraceStudy::name>("Name of the trace."),
    {object("trace", io::kKeysOf<kAnswer>,
            "The recorded step on its own machine; null where machine or steps are unknown.")
         .nullable()
         .required(),
     [](const TraceStudy& each) { return io::write(kAnswer, each.answer); }},
    {object("library", io::kKeysOf<kLibrary>,
            "The library's model, fitted to logs; null without logs.")
         .nullable()
         .required(),
     [](const TraceStudy& each) { return io::write(kLibrary, each.library); }},
    io::row<&TraceStudy::cluster>("Machines of the largest number of GPUs."),
    {list("points", kPointObject, "The step by the number of GPUs.").required(),
     [](const TraceStudy& each) { return io::write_all(kStudyPoint, each.points); }},
    {list("what_if", kWhatIfObject,
          "Changes that shorten the step at the largest number of GPUs: settings, then software, "
          "then hardware.")
         .required(),
     [](const TraceStudy& each) { return io::write_all(kWhatIf, each.help); }},
    {list("measure_next", kNextObject, "What one measured step would leave of the interval.")
         .required(),
     [](const TraceStudy& each) { return io::write_all(kNext, each.measure_next); }},
    {list("assumed", kAssumed, "What was chosen.").required(), io::value_of<&TraceStudy::assumed>},
    {list("warnings", kStudyWarning, "What to know about the trace.").required(),
     io::value_of<&TraceStudy::warnings>},
});
constexpr Key kStudyFile =
    object("study", io::kKeysOf<kStudy>, "What stepsim study --json writes.");

constexpr std::array<std::string_view, 1> kStudyExamples{
    R"({"assumed":[],"cluster":"1 x dgx_a100","kind":"study","library":null,"measure_next":[],"name":"mine","points":[{"bottleneck":"compute","efficiency":0.9,"gpus":8,"samples_per_s":null,"step_high_s":0.11,"step_low_s":0.09,"step_s":0.1}],"schema_version":1,"trace":null,"warnings":[],"what_if":[]})"};

} // namespace

Json study_tree(const TraceStudy& study) { return io::write(kStudy, study); }

io::FileKind study_kind() { return {"study", &kStudyFile, kStudyExamples, false}; }

} // namespace stepsim::study
