#pragma once
// The keys of a file of measured steps (kind measured_steps, TRN 3.5): a list of scenarios, each
// with its measured iteration time. Users write such files from publications or their own runs;
// `stepsim fit-overlap` reads them.

#include "study/sweep/sweep_keys.hpp"

namespace stepsim::study::keys {

inline constexpr std::array kMeasuredScenario{
    text("scenario", "File of kind scenario."),
    object("scenario", {}, "The scenario itself.").open()};
inline constexpr std::array kMeasuredStepKeys{
    either("scenario", kMeasuredScenario,
           "The scenario of the step, with the network that the fit starts from.",
           R"("two-layers.scenario.json")")
        .required(),
    word("schedule", schedules, "Schedule of the step; the default is that of the scenario.",
         R"("wfbp")"),
    number("step_s", "Measured time of the step, s.", io::above(0), "1.2334").required(),
    text("source", "Where this number comes from.", R"("table 3")")};
inline constexpr std::array kMeasuredStepRow{
    object("rows", kMeasuredStepKeys, "One measured step.")};

inline constexpr std::array kMeasuredStepsKeys{
    text("source", "Where the numbers come from.", R"("our own runs, 2026-01-31")"),
    text("note", "A remark for readers of the file.", R"("means of 50 steps")"),
    list("rows", kMeasuredStepRow, "Measured steps on one network.",
         R"([{"scenario": "two-layers.scenario.json", "schedule": "wfbp", "step_s": 0.05}])")
        .sizes(1)
        .required()};
inline constexpr io::Key kMeasuredSteps =
    object("measured_steps", kMeasuredStepsKeys, "Measured times of steps, to fit a slowdown to.");

inline constexpr std::array<std::string_view, 1> kMeasuredStepsExamples{R"({
  "schema_version": 1, "kind": "measured_steps", "name": "two-layers", "source": "our own runs",
  "rows": [
    {"schedule": "single", "step_s": 0.014, "scenario": {
      "workload": {"layers": [
        {"name": "a", "forward_s": 0.001, "backward_s": 0.002, "gradient_bytes": 4000000},
        {"name": "b", "forward_s": 0.001, "backward_s": 0.002, "gradient_bytes": 1000000}]},
      "cluster": {"nodes": 16, "network": "10g-tcp"}}}]})"};
inline constexpr io::FileKind kMeasuredStepsFile{"measured_steps", &kMeasuredSteps,
                                                 kMeasuredStepsExamples};

} // namespace stepsim::study::keys
