#pragma once
// The keys of a result that are listed per bucket, iteration, worker, layer and job.

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
    {io::rows::integer("bytes", "Size of its gradients.").required(),
     [](const Bucket& b) -> io::Json { return b.bytes.value; }},
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

} // namespace stepsim::study
