#pragma once
// The keys of a result that are listed per bucket, iteration, worker, layer and job, and those
// about its program, its estimated times and a measured step.

#include "document/fields/written.hpp"
#include "run/result.hpp"
#include "run/summary_fields.hpp"

namespace stepsim::study {

inline constexpr std::array kLayerNumber{
    io::rows::integer("layers", "Number of a layer.").in(io::at_least(1))};
inline constexpr auto kBucket = std::to_array<io::Written<Bucket>>({
    io::row<&Bucket::index>("Launch order, from 0."),
    {io::rows::list("layers", kLayerNumber,
                    "First and last layer, from 1 in the order of backward.")
         .sizes(2, 2)
         .required(),
     [](const Bucket& b) -> io::Json {
       return io::Array{b.first, b.last};
     }},
    io::row<&Bucket::bytes>("Size of its gradients."),
    {io::rows::integer("elements", "Values in it; null where only bytes are known.")
         .nullable()
         .required(),
     [](const Bucket& b) { return b.elements > 0 ? io::Json(b.elements) : io::Json(); }},
    io::row<&Bucket::items>("tensors", "Gradients in it."),
    io::row<&Bucket::ready_s>(
        "When its last gradient is computed, s from the start of the iteration."),
    io::row<&Bucket::start_s>("When its exchange starts, s."),
    io::row<&Bucket::end_s>("When its exchange ends, s."),
    io::row<&Bucket::exposed_s>("Part of the exchange that computation does not hide, s."),
    io::row<&Bucket::algorithm>("Algorithm of its exchange."),
});

inline constexpr auto kIteration = std::to_array<io::Written<Iteration>>({
    io::row<&Iteration::index>("From 0."),
    io::row<&Iteration::start_s>("Start, s from the start of the run."),
    io::row<&Iteration::compute_end_s>("End of backward, s."),
    io::row<&Iteration::exchange_start_s>("Start of the first exchange, s."),
    io::row<&Iteration::exchange_end_s>("End of the last exchange, s."),
    io::row<&Iteration::iteration_time_s>(
        "Period of the iteration, s: between two ends of the forward pass; in pipelined training "
        "and programs from the end of the iteration before to its own."),
    io::row<&Iteration::exposed_communication_s>("Communication not hidden behind computation, s."),
    io::row<&Iteration::applied_gradient>(
        "Iteration whose gradient the update applies; null where the step is skipped."),
    io::row<&Iteration::density>("Entries selected over elements; null for dense exchanges."),
    io::row<&Iteration::k>("Entries selected per rank; null for dense exchanges."),
    io::row<&Iteration::loss_fraction>("Part of the bytes of gradients that is not delivered."),
});

inline constexpr auto kDefault = std::to_array<io::Written<DefaultValue>>({
    io::row<&DefaultValue::pointer>("Where it stands in the resolved scenario.")
        .example(R"("/communication/schedule")"),
    io::row<&DefaultValue::value>("What was taken.").example(R"("trace")"),
    io::row<&DefaultValue::reason>("Why this value.").example(R"("5 measured buckets")"),
});

inline constexpr auto kWorker = std::to_array<io::Written<WorkerResult>>({
    io::row<&WorkerResult::worker>("Rank of the worker."),
    io::row<&WorkerResult::compute_s>("Computing, s per iteration."),
    io::row<&WorkerResult::straggler_wait_s>("Waiting for slower workers, s per iteration."),
    io::row<&WorkerResult::transfer_s>("Communication without waiting for slower workers, s per "
                                       "iteration. It includes waiting at an asynchronous server."),
});

inline constexpr auto kLayer = std::to_array<io::Written<LayerResult>>({
    io::row<&LayerResult::name>("Name in the workload."),
    io::row<&LayerResult::forward_start_s>("In a steady iteration, s from its start."),
    io::row<&LayerResult::forward_end_s>("End of forward, s."),
    io::row<&LayerResult::backward_start_s>("Start of backward, s."),
    io::row<&LayerResult::backward_end_s>("End of backward, s."),
    io::row<&LayerResult::gradient_done_s>(
        "End of the last message with its gradients, s; 0 without any."),
});

inline constexpr auto kJob = std::to_array<io::Written<JobTimes>>({
    io::row<&JobTimes::name>("Name of the job."),
    io::row<&JobTimes::nodes>("Nodes of the job."),
    io::row<&JobTimes::together_s>(
        kIterationTime,
        "Mean iteration time while all jobs run, s; null where no steady one ended in that time."),
    io::row<&JobTimes::alone_s>("alone_iteration_time_s",
                                "Iteration time without the other jobs, s."),
});

// The sharding units, and the size of the program.

inline constexpr auto kUnit = std::to_array<io::Written<UnitResult>>({
    io::row<&UnitResult::index>("Forward order, from 0."),
    {io::rows::list("layers", kLayerNumber, "First and last layer, from 1 in forward order.")
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

inline constexpr auto kProgramSize = std::to_array<io::Written<ProgramRun>>({
    io::row("operations", "Operations of an iteration.",
            [](const ProgramRun& run) { return run.program.iteration_size(); }),
    io::row("streams", "Streams that they run on.",
            [](const ProgramRun& run) { return run.program.streams.size(); }),
    io::row("waits", "Waits between operations.",
            [](const ProgramRun& run) { return run.program.waits.size(); }),
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
    io::row("low", "Measured times are at least this many times the estimate.",
            [](const Scenario& s) { return s.workload.interval->low; }),
    io::row("high", "Measured times are at most this many times the estimate.",
            [](const Scenario& s) { return s.workload.interval->high; }),
    io::row("scale", "Factor on all times by a measured step; 1 without one.",
            [](const Scenario& s) { return s.workload.estimate_scale; }),
});

// The keys of a result about a measured step that corrects it (CON 5).

inline constexpr auto kMeasuredTotal = std::to_array<io::Written<MeasuredTotal>>({
    io::texts_row<&MeasuredTotal::at, "POINTER=VALUE.">(
        "What the scenario had when its step was measured."),
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
