#include "study/trace_study.hpp"

#include "study/what_if_rows.hpp"

namespace stepsim::study {

namespace {

using namespace io::rows;
using io::Written;

// The ends of the interval of a member.
template <auto Step> constexpr auto low_row() {
  return io::row<Step, &PredictedStep::band, &base::Band::low>(
      "step_low_s", "Low end of the interval of 80 %, s; null under ideal conditions.");
}
template <auto Step> constexpr auto high_row() {
  return io::row<Step, &PredictedStep::band, &base::Band::high>("step_high_s",
                                                                "High end of it, s.");
}

constexpr auto kPart = std::to_array<Written<GapPart>>({
    io::row<&GapPart::key>("part", "host, input, waiting, exchange, other_collectives or rest."),
    io::row<&GapPart::words>("What it is."),
    io::row<&GapPart::seconds>(
        "Seconds of the step; below 0 where the step has less than predicted."),
});
constexpr auto kAnswer = std::to_array<Written<TraceAnswer>>({
    io::row<&TraceAnswer::machine, &TraceMachine::node_type>(
        "Node type that the trace's GPU is in."),
    io::row<&TraceAnswer::machine, &TraceMachine::nodes>("Machines of the trace.")
        .in(io::at_least(1)),
    io::row<&TraceAnswer::machine, &TraceMachine::gpus_per_node>(
        "GPUs of a machine that took part.")
        .in(io::at_least(1)),
    io::row<&TraceAnswer::gap, &TraceGap::times, &DeviceTimes::steps>(
        "Steps that were measured, on every rank that was recorded.")
        .in(io::at_least(1)),
    io::row<&TraceAnswer::gap, &TraceGap::times, &DeviceTimes::step_s>(
        "measured_s", "Mean measured step, over steps and ranks, s."),
    io::row<&TraceAnswer::gap, &TraceGap::ideal_s>(
        "Step of the trace's kernels over ideal links, s."),
    io::list_row<kPart, "One part.">(
        "gap", "Parts of the measured step beyond ideal_s, which add up to it.",
        io::Getter<&TraceAnswer::gap, &TraceGap::parts>()),
    io::row<&TraceAnswer::carried, &Carried::stretch>(
        "Carried: the factor on the times of layers and update."),
    io::row<&TraceAnswer::carried, &Carried::input_s>(
        "Carried: input of a micro-batch that nothing hides, s."),
    io::row<&TraceAnswer::wait_s>("Carried: time of each step that nothing else explains, s."),
    io::row<&TraceAnswer::predicted, &PredictedStep::step_s>(
        "Step that is predicted of the same machine with what is carried, s."),
    low_row<&TraceAnswer::predicted>(),
    high_row<&TraceAnswer::predicted>(),
    io::row<&TraceAnswer::other_half_s>(
        "second_half_s", "Mean of the second half of the steps, s; null of one step."),
    io::row<&TraceAnswer::predicted_half_s>("second_half_predicted_s",
                                            "What the first half alone predicts of it, s."),
});

constexpr auto kLibrary = std::to_array<Written<LibraryFromLogs>>({
    io::row<&LibraryFromLogs::points>("Measured times of the logs.").in(io::at_least(1)),
    io::row<&LibraryFromLogs::left_out, &nccl::ErrorNumbers::median>(
        "median_error", "Median error on shapes, or sizes, left out of the fit."),
    io::row<&LibraryFromLogs::left_out, &nccl::ErrorNumbers::p90>(
        "p90_error", "90th percentile of the same errors."),
});

constexpr auto kStudyPoint = std::to_array<Written<StudyPoint>>({
    io::row<&StudyPoint::gpus>("Number of GPUs.").in(io::at_least(1)),
    io::row<&StudyPoint::step, &PredictedStep::step_s>("Time of a step, s."),
    low_row<&StudyPoint::step>(),
    high_row<&StudyPoint::step>(),
    io::row<&StudyPoint::samples_per_s>(
        "Samples of all GPUs per second; null without a batch size."),
    io::row<&StudyPoint::efficiency>("Speed-up per GPU."),
    io::row<&StudyPoint::bottleneck>(
        "What bounds the step: the bottleneck of a run, or host where computing "
        "waits longer for launches than it computes."),
});
constexpr auto kStudy = std::to_array<Written<TraceStudy>>({
    {integer("schema_version", "Version of the format.").in(io::between(1, 1)).required(),
     [](const TraceStudy&) { return io::Json(1); }},
    {text("kind", "study").required(), [](const TraceStudy&) { return io::Json("study"); }},
    io::row<&TraceStudy::name>("Name of the trace."),
    io::object_row<kAnswer>(
        "trace", "The recorded step on its own machine; null where machine or steps are unknown.",
        io::Getter<&TraceStudy::answer>()),
    io::object_row<&TraceStudy::library, kLibrary>(
        "The library's model, fitted to logs; null without logs."),
    io::row<&TraceStudy::cluster>("Machines of the largest number of GPUs."),
    io::list_row<&TraceStudy::points, kStudyPoint, "One number of GPUs.">(
        "The step by the number of GPUs."),
    io::list_row<kWhatIf, "One change, run again.">(
        "what_if",
        "Changes that shorten the step at the largest number of GPUs: settings, then software, "
        "then hardware.",
        io::Getter<&TraceStudy::help>()),
    io::list_row<&TraceStudy::measure_next, kNext, "One measurement.">(
        "What one measured step would leave of the interval."),
    io::texts_row<&TraceStudy::assumed, "One choice.">("What was chosen."),
    io::texts_row<&TraceStudy::warnings, "One warning.">("What to know about the trace."),
});
constexpr io::Key kStudyFile =
    object("study", io::kKeysOf<kStudy>, "What stepsim study --json writes.");

constexpr std::array<std::string_view, 1> kStudyExamples{
    R"({"assumed":[],"cluster":"1 x dgx_a100","kind":"study","library":null,"measure_next":[],"name":"mine","points":[{"bottleneck":"compute","efficiency":0.9,"gpus":8,"samples_per_s":null,"step_high_s":0.11,"step_low_s":0.09,"step_s":0.1}],"schema_version":1,"trace":null,"warnings":[],"what_if":[]})"};

} // namespace

io::Json study_tree(const TraceStudy& study) { return io::write(kStudy, study); }

io::FileKind study_kind() { return {"study", &kStudyFile, kStudyExamples, false}; }

} // namespace stepsim::study
