#pragma once
// The keys of a result that are listed per bucket, iteration, worker, layer and job.
#include <array>

#include "document/fields/written.hpp"
#include "run/result.hpp"

namespace stepsim::study {

inline constexpr std::array kLayerNumber{
    io::rows::integer("layers", "Number of a layer.").in(io::at_least(1))};
inline constexpr auto kBucket = std::to_array<io::Written<Bucket>>({
    {io::rows::integer("index", "Launch order, from 0.").required(),
     [](const Bucket& b) -> io::Json { return b.index; }},
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
    {io::rows::integer("tensors", "Gradients in it.").required(),
     [](const Bucket& b) -> io::Json { return b.items; }},
    {io::rows::number("ready_s",
                      "When its last gradient is computed, s from the start of the iteration.")
         .required(),
     [](const Bucket& b) -> io::Json { return b.ready_s; }},
    {io::rows::number("start_s", "When its exchange starts, s.").required(),
     [](const Bucket& b) -> io::Json { return b.start_s; }},
    {io::rows::number("end_s", "When its exchange ends, s.").required(),
     [](const Bucket& b) -> io::Json { return b.end_s; }},
    {io::rows::number("exposed_s", "Part of the exchange that computation does not hide, s.")
         .required(),
     [](const Bucket& b) -> io::Json { return b.exposed_s; }},
    {io::rows::text("algorithm", "Algorithm of its exchange.").required(),
     [](const Bucket& b) -> io::Json { return b.algorithm; }},
});

inline constexpr auto kIteration = std::to_array<io::Written<Iteration>>({
    {io::rows::integer("index", "From 0.").required(),
     [](const Iteration& i) -> io::Json { return i.index; }},
    {io::rows::number("start_s", "Start, s from the start of the run.").required(),
     [](const Iteration& i) -> io::Json { return i.start_s; }},
    {io::rows::number("compute_end_s", "End of backward, s.").required(),
     [](const Iteration& i) -> io::Json { return i.compute_end_s; }},
    {io::rows::number("exchange_start_s", "Start of the first exchange, s.").required(),
     [](const Iteration& i) -> io::Json { return i.exchange_start_s; }},
    {io::rows::number("exchange_end_s", "End of the last exchange, s.").required(),
     [](const Iteration& i) -> io::Json { return i.exchange_end_s; }},
    {io::rows::number(
         "iteration_time_s",
         "Period of the iteration, s: between two ends of the forward pass; in pipelined "
         "training and programs from the end of the iteration before to its own.")
         .required(),
     [](const Iteration& i) -> io::Json { return i.iteration_time_s; }},
    {io::rows::number("exposed_communication_s", "Communication not hidden behind computation, s.")
         .required(),
     [](const Iteration& i) -> io::Json { return i.exposed_communication_s; }},
    {io::rows::integer(
         "applied_gradient",
         "Iteration whose gradient the update applies; null where the step is skipped.")
         .nullable()
         .required(),
     [](const Iteration& i) { return io::or_null(i.applied_gradient); }},
    {io::rows::number("density", "Entries selected over elements; null for dense exchanges.")
         .nullable()
         .required(),
     [](const Iteration& i) { return io::or_null(i.density); }},
    {io::rows::integer("k", "Entries selected per rank; null for dense exchanges.")
         .nullable()
         .required(),
     [](const Iteration& i) { return io::or_null(i.k); }},
    {io::rows::number("loss_fraction", "Part of the bytes of gradients that is not delivered.")
         .nullable()
         .required(),
     [](const Iteration& i) { return io::or_null(i.loss_fraction); }},
});

inline constexpr auto kWorker = std::to_array<io::Written<WorkerResult>>({
    {io::rows::integer("worker", "Rank of the worker.").required(),
     [](const WorkerResult& w) -> io::Json { return w.worker; }},
    {io::rows::number("compute_s", "Computing, s per iteration.").required(),
     [](const WorkerResult& w) -> io::Json { return w.compute_s; }},
    {io::rows::number("straggler_wait_s", "Waiting for slower workers, s per iteration.")
         .required(),
     [](const WorkerResult& w) -> io::Json { return w.straggler_wait_s; }},
    {io::rows::number("transfer_s", "Communication without waiting for slower workers, s per "
                                    "iteration. It includes waiting at an asynchronous server.")
         .required(),
     [](const WorkerResult& w) -> io::Json { return w.transfer_s; }},
});

inline constexpr auto kLayer = std::to_array<io::Written<LayerResult>>({
    {io::rows::text("name", "Name in the workload.").required(),
     [](const LayerResult& l) -> io::Json { return l.name; }},
    {io::rows::number("forward_start_s", "In a steady iteration, s from its start.").required(),
     [](const LayerResult& l) -> io::Json { return l.forward_start_s; }},
    {io::rows::number("forward_end_s", "End of forward, s.").required(),
     [](const LayerResult& l) -> io::Json { return l.forward_end_s; }},
    {io::rows::number("backward_start_s", "Start of backward, s.").required(),
     [](const LayerResult& l) -> io::Json { return l.backward_start_s; }},
    {io::rows::number("backward_end_s", "End of backward, s.").required(),
     [](const LayerResult& l) -> io::Json { return l.backward_end_s; }},
    {io::rows::number("gradient_done_s",
                      "End of the last message with its gradients, s; 0 without any.")
         .required(),
     [](const LayerResult& l) -> io::Json { return l.gradient_done_s; }},
});

inline constexpr auto kJob = std::to_array<io::Written<JobTimes>>({
    {io::rows::text("name", "Name of the job.").required(),
     [](const JobTimes& j) -> io::Json { return j.name; }},
    {io::rows::integer("nodes", "Nodes of the job.").required(),
     [](const JobTimes& j) -> io::Json { return j.nodes; }},
    {io::rows::number(
         "iteration_time_s",
         "Mean iteration time while all jobs run, s; null where no steady one ended in that "
         "time.")
         .nullable()
         .required(),
     [](const JobTimes& j) { return io::or_null(j.together_s); }},
    {io::rows::number("alone_iteration_time_s", "Iteration time without the other jobs, s.")
         .required(),
     [](const JobTimes& j) -> io::Json { return j.alone_s; }},
});

} // namespace stepsim::study
