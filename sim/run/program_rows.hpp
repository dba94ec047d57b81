#pragma once
// The keys of a result about its program: the sharding units, and the size of the program.

#include "document/fields/written.hpp"
#include "run/result.hpp"
#include "run/summary_fields.hpp"

namespace stepsim::study {

inline constexpr std::array kUnitLayer{
    io::rows::integer("layers", "Number of a layer.").in(io::at_least(1))};
inline constexpr auto kUnit = std::to_array<io::Written<UnitResult>>({
    io::row<&UnitResult::index>("Forward order, from 0."),
    {io::rows::list("layers", kUnitLayer, "First and last layer, from 1 in forward order.")
         .sizes(2, 2)
         .required(),
     [](const UnitResult& u) -> io::Json {
       return io::Array{u.first, u.last};
     }},
    io::row<&UnitResult::parameters>(
        "Parameters, rounded up to a multiple of the ranks that share them."),
    io::row<&UnitResult::gather_s>("All-gather of its parameters, s."),
    io::row<&UnitResult::reduce_s>("Reduce-scatter of its gradients, s."),
    io::row<&UnitResult::live_from_s>(
        "When its parameters are gathered first, s from the start of the iteration."),
    io::row<&UnitResult::live_to_s>("When they are freed last, s."),
});

inline constexpr auto kProgramSize = std::to_array<io::Written<programs::Program>>({
    {io::rows::integer("operations", "Operations of an iteration.").required(),
     [](const programs::Program& p) -> io::Json {
       return static_cast<std::int64_t>(p.iteration_size());
     }},
    {io::rows::integer("streams", "Streams that they run on.").required(),
     [](const programs::Program& p) -> io::Json {
       return static_cast<std::int64_t>(p.streams.size());
     }},
    {io::rows::integer("waits", "Waits between operations.").required(),
     [](const programs::Program& p) -> io::Json {
       return static_cast<std::int64_t>(p.waits.size());
     }},
});

// The keys of a result about estimated compute times of a GPU (INP 3).

// The origin of the interval in which a measured time is expected.
inline constexpr std::array<std::string_view, 3> kEstimateLabels{"validated", "unvalidated",
                                                                 "measured_step"};

// The keys of the object `estimate`, which scenarios with estimated times have.
inline constexpr auto kEstimate = std::to_array<io::Written<Scenario>>({
    {io::rows::word("gpu", layers::gpu_words, "GPU of the estimate.").required(),
     [](const Scenario& s) -> io::Json { return s.workload_source.profile.estimate->gpu->name; }},
    {io::rows::word("dtype", layers::kPrecisions, "Number format of the matrix products.")
         .required(),
     [](const Scenario& s) -> io::Json {
       return layers::kPrecisions[s.workload_source.profile.estimate->precision];
     }},
    {io::rows::word("label", kEstimateLabels,
                    "Whether estimates of such models on such a GPU were compared with measured "
                    "steps, or whether times are scaled to a measured step.")
         .required(),
     [](const Scenario& s) -> io::Json {
       return s.workload_source.profile.estimate->measured ? kEstimateLabels[2]
              : s.workload.interval->validated             ? kEstimateLabels[0]
                                                           : kEstimateLabels[1];
     }},
    {io::rows::number("low", "Measured times are at least this many times the estimate.")
         .required(),
     [](const Scenario& s) -> io::Json { return s.workload.interval->low; }},
    {io::rows::number("high", "Measured times are at most this many times the estimate.")
         .required(),
     [](const Scenario& s) -> io::Json { return s.workload.interval->high; }},
    {io::rows::number("scale", "Factor on all times by a measured step; 1 without one.").required(),
     [](const Scenario& s) -> io::Json { return s.workload.estimate_scale; }},
});

// The keys of a result about a measured step that corrects it (CON 5).

inline constexpr std::array kAtText{io::rows::text("at", "POINTER=VALUE.")};
inline constexpr auto kMeasuredTotal = std::to_array<io::Written<MeasuredTotal>>({
    {io::rows::list("at", kAtText, "What the scenario had when its step was measured.").required(),
     [](const MeasuredTotal& m) -> io::Json { return io::Array(m.at.begin(), m.at.end()); }},
    io::row<&MeasuredTotal::measured_s>("The measured step, s."),
    io::row<&MeasuredTotal::predicted_s>("The prediction of that step, s."),
    io::row<&MeasuredTotal::step_s>(
        kIterationTime, "The iteration time of this scenario, corrected by the same ratio, s."),
    io::row<&MeasuredTotal::low_s>(
        "iteration_time_low_s",
        "Low end of the interval that holds 80 % of real runs, s; null under ideal conditions."),
    io::row<&MeasuredTotal::high_s>("iteration_time_high_s", "High end of that interval, s."),
    io::row<&MeasuredTotal::samples_per_s>("Samples of all workers per second at that time."),
    io::row<&MeasuredTotal::time_to_finish_s>("Time of the whole training at that time, s."),
    io::row<&MeasuredTotal::cost_usd>("Price of all GPUs for the whole training, USD."),
});

} // namespace stepsim::study
