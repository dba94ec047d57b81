#pragma once
// The table of a run's figures: one row per figure with its key, its meaning, its group and the
// runs that have it. The table makes the summary of `run`, the records of sweeps, the columns of
// `compare`, the targets of `solve`, and the JSON Schemas of results and records
// (summary_keys.hpp).

#include "document/fields/written.hpp"
#include "run/summary.hpp"

#include <array>

namespace stepsim::study {

using SummaryNumber = std::optional<double> Summary::*;
using SummaryFlag = std::optional<bool> Summary::*;
using SummaryWord = std::string_view Summary::*; // written as null if empty
using SummaryCounts = std::vector<std::int64_t> Summary::*;
using SummaryParts = std::vector<IntervalPart> Summary::*;

// The runs that have a figure, in words, and a `--set` that makes a run one of them.
struct SummaryRuns {
  std::string_view runs;
  std::string_view setting;
};

// What several runs of other seeds make of a figure: that of the first run, the mean, or the mean
// weighted by iteration_time_s, as ratios to it are averaged.
enum class Replicated { first, mean, weighted };

// One figure. Its key in records is `key`. In the summary of `run`, the figures of a group are
// members of an object with the group's name and lose that prefix: merge_gap_to_optimal becomes
// /merge/gap_to_optimal.
struct SummaryField {
  std::string_view key;
  std::variant<SummaryNumber, SummaryFlag, SummaryWord, SummaryCounts, SummaryParts> value;
  std::string_view sentence;
  std::string_view group{};
  SummaryRuns only_in{}; // runs that have the figure; empty = not restricted in this table
  Replicated replicated = Replicated::first; // another for numbers alone
  bool is_better_high = false; // a target is met by at least, else by at most, so much

  [[nodiscard]] constexpr bool is_number() const {
    return std::holds_alternative<SummaryNumber>(value);
  }
  [[nodiscard]] constexpr std::string_view name_in_group() const {
    return group.empty() ? key : key.substr(group.size() + 1);
  }
  [[nodiscard]] constexpr SummaryField below(std::string_view name) const {
    SummaryField field = *this;
    field.group = name;
    return field;
  }
  [[nodiscard]] constexpr SummaryField only(SummaryRuns runs) const {
    SummaryField field = *this;
    field.only_in = runs;
    return field;
  }
};
namespace figures {

inline constexpr SummaryRuns kCompressed{"a run with compression",
                                         "/communication/compression/method=..."};
inline constexpr SummaryRuns kSlowed{"a run with a slowdown by overlap",
                                     "/training/overlap/compute=..."};
inline constexpr SummaryRuns kPipelined{"pipe_sgd", "/training/algorithm=pipe_sgd"};
inline constexpr SummaryRuns kUncertain{
    "a run under typical conditions, with random times or with the model of a library",
    "/conditions=typical"};
inline constexpr SummaryRuns kEstimated{"a run with times that are estimated for a GPU",
                                        "/workload/gpu=..."};
inline constexpr SummaryRuns kRounds{"local_sgd, diloco and easgd", "/training/algorithm=diloco"};
inline constexpr SummaryRuns kSharded{"a run with sharding", "/training/sharding=..."};
inline constexpr SummaryRuns kJobs{"a run that says how much to train", "/job/samples=..."};
inline constexpr SummaryRuns kPriced{"a run with samples or tokens and a price",
                                     "/job/price_per_gpu_hour=..."};
inline constexpr SummaryRuns kFailing{"a run whose machines fail", "/job/node_mtbf_s=..."};
inline constexpr SummaryRuns kBatched{"a run with a batch size", "/workload/batch_size=..."};

// A figure whose key is the name of its member.
template <auto Member> [[nodiscard]] constexpr SummaryField row(std::string_view sentence) {
  return {.key = io::member_name<Member>(), .value = Member, .sentence = sentence};
}

// A figure of which replications give the mean.
template <SummaryNumber Number> constexpr SummaryField mean(std::string_view sentence) {
  SummaryField field = row<Number>(sentence);
  field.replicated = Replicated::mean;
  return field;
}

// A figure of which more is better.
template <SummaryNumber Number>
constexpr SummaryField gain(std::string_view sentence, Replicated replicated = Replicated::first) {
  SummaryField field = row<Number>(sentence);
  field.replicated = replicated;
  field.is_better_high = true;
  return field;
}

// The order is made for readers. Records and results sort their keys.
inline constexpr std::array kAll{
    mean<&Summary::iteration_time_s>(
        "Steady period of one iteration, s. With local_sgd, diloco and easgd this and all other "
        "figures per iteration are means per step of a round, and period_s is that of the round."),
    mean<&Summary::forward_s>("Forward pass of the slowest worker, s."),
    mean<&Summary::backward_s>("Backward pass of the slowest worker, s."),
    mean<&Summary::update_s>("Weight update, s."),
    mean<&Summary::codec_compute_s>("Encoding and decoding on the compute thread, s."),
    mean<&Summary::compute_s>(
        "Busy compute per iteration of the slowest worker, s: forward + backward + update + "
        "codec."),
    mean<&Summary::communication_s>("Time with a message under way, s; hidden or not."),
    mean<&Summary::exposed_communication_s>("Communication not hidden behind computation, s."),
    mean<&Summary::input_wait_s>(
        "Reading of batches that computing does not hide, s per iteration; synchronous steps."),
    gain<&Summary::overlap_fraction>("1 - exposed / communication."),
    gain<&Summary::speedup>(
        "Samples per second over those of one worker, as the key baseline describes it: it "
        "computes and updates what a worker of the run does, and sends nothing. With sharding its "
        "update is that of one shard."),
    gain<&Summary::scaling_efficiency>("Speed-up over the number of workers; at most 1.",
                                       Replicated::weighted),
    gain<&Summary::samples_per_s>(
        "Throughput of all workers, samples/s; null without a batch size.")
        .only(kBatched),
    mean<&Summary::makespan_s>("Whole run, s: to the end of the last exchange."),
    mean<&Summary::makespan_drained_s>("Whole run with the gradients under way applied, s."),
    row<&Summary::closed_form_s>(
        "Period with every exchange by its formula, s; null where there is none: on simulated "
        "networks, with a measured curve, and with random factors."),
    row<&Summary::closed_form_is_bound>(
        "Whether closed_form_s is an upper bound rather than the time of the schedule; null "
        "without a closed form."),
    row<&Summary::paper_form_s>(
        "T/K (c + m) of the whole run, s: the published form for unlimited resources, not "
        "reachable; for reference.")
        .only(kPipelined),
    mean<&Summary::straggler_wait_s>(
        "Mean over workers of waiting for slower ones, s per iteration: compute_s less what the "
        "worker computes; part of compute_s, not communication. With mode ssp: what the bound on "
        "staleness holds workers up, part of exposed_communication_s."),
    mean<&Summary::interference_s>(
        "How much longer the period is than without the slowdown of /training/overlap, s; part of "
        "exposed_communication_s.")
        .only(kSlowed),
    row<&Summary::wire_bytes>(
        "Bytes that the worker that sends most sends per iteration; a server sends more."),
    mean<&Summary::lower_bound_s>(
        "No schedule on this network has a shorter period, s; counts the factors of /variability "
        "that were drawn."),
    row<&Summary::iteration_time_low_s>(
        "Low end of the interval of the iteration time, s: of what its parts leave open or, where "
        "times are random and it has no parts, of the mean; that is not below what the slowest "
        "worker computes with the least factor that the law can draw (0 for lognormal, "
        "exponential, gamma).")
        .only(kUncertain),
    row<&Summary::iteration_time_high_s>("High end of that interval of the iteration time, s.")
        .only(kUncertain),
    row<&Summary::interval_level>(
        "Share of all cases that the interval holds, 0.8: of real runs under typical conditions, "
        "of predictions by the model of a library, or of means of random times.")
        .only(kUncertain),
    row<&Summary::interval_parts>(
        "What the interval consists of, the largest part first; none for the mean of random times.")
        .only(kUncertain),
    row<&Summary::compute_low_s>(
        "Low end of the interval of the estimate for a GPU in which compute_s lies, s.")
        .only(kEstimated),
    row<&Summary::compute_high_s>("High end of that interval, s.").only(kEstimated),
    row<&Summary::pipeline_width>(
        "Width K of Pipe-SGD: iterations whose gradients are under way at once.")
        .only(kPipelined),
    row<&Summary::staleness_mean>(
        "Updates between reading weights and applying the gradient, mean."),
    row<&Summary::staleness_max>(
        "Updates between reading weights and applying the gradient, largest."),
    row<&Summary::in_flight_gradients>("Gradients that are not applied when the run ends."),
    row<&Summary::codec_hops>("Re-encodings of a value on its way round the ring."),
    mean<&Summary::select_s>("Selecting entries, s per iteration.").only(kCompressed),
    mean<&Summary::residual_s>("Updating residuals, s per iteration.").only(kCompressed),
    mean<&Summary::compress_s>(
        "Selecting and residuals, s; on a side stream what of it backward does not hide.")
        .only(kCompressed),
    mean<&Summary::staging_s>("Copies between device and host, s per iteration.").only(kCompressed),
    mean<&Summary::wire_s>("Sending the messages themselves, s per iteration.").only(kCompressed),
    mean<&Summary::merge_s>("Merging lists of entries on the longest path, s per iteration.")
        .only(kCompressed),
    mean<&Summary::scatter_s>("Adding entries into the dense update, s per iteration.")
        .only(kCompressed),
    gain<&Summary::density>("Entries selected over elements.").only(kCompressed),
    gain<&Summary::k>("Entries selected per rank, all buckets.").only(kCompressed),
    gain<&Summary::speedup_vs_dense_sequential>(
        "Iteration time of the same run, dense and in one message after backward, over this one.",
        Replicated::weighted)
        .only(kCompressed),
    gain<&Summary::speedup_vs_dense_overlapped>(
        "Iteration time of the same run, dense and overlapped (compression.baseline), over this "
        "one.",
        Replicated::weighted)
        .only(kCompressed),
    mean<&Summary::loss_fraction>("Part of the bytes of gradients that is not delivered."),
    mean<&Summary::stale_fraction>("Part of the bytes of parameters that is not delivered."),
    mean<&Summary::effective_loss>(
        "Loss of gradients weighted by the contributions that each lost packet holds."),
    row<&Summary::epochs>("Epochs to the target accuracy."),
    row<&Summary::time_to_accuracy_s>("Time to the target accuracy, s."),
    row<&Summary::steps_to_finish>(
        "Steps of the whole training: samples over those of a step of all workers, rounded up.")
        .only(kJobs),
    row<&Summary::time_to_finish_s>(
        "Time of the whole training, s; where machines fail, the expected time with checkpoints, "
        "restarts and steps that are done again.")
        .only(kJobs),
    row<&Summary::cost_usd>(
        "Price of all GPUs for time_to_finish_s, USD; servers of their own cost nothing.")
        .only(kPriced),
    gain<&Summary::goodput>(
        "Share of the time in which steps are done that are not lost, with a checkpoint every "
        "checkpoint_interval_s.")
        .only(kFailing),
    row<&Summary::checkpoint_interval_s>(
        "Time of steps between two checkpoints for which the training is done first, s.")
        .only(kFailing),
    row<&Summary::bottleneck>(
        "What limits the step: compute, latency, bandwidth, reduction, straggler, compression, "
        "server, input (the reading of batches) or waiting (training.wait_s)."),
    row<&Summary::baseline>("What the speed-up is relative to, in words."),
    row<&Summary::converges>(
        "Whether training converges with this loss of gradients (/training/convergence)."),
    row<&Summary::staleness_histogram>("Number of gradients by staleness, from 0."),
    row<&Summary::merge_waiting_merges>(
        "Merges of MG-WFBP for which the channel waits though a message is ready.")
        .below("merge"),
    row<&Summary::merge_certified_optimal>(
        "Whether the merge of MG-WFBP or optimal is proved to be the best one of messages that "
        "follow each other.")
        .below("merge"),
    row<&Summary::merge_linear>(
        "Whether a message costs a start-up and a time per byte, as the planner takes it; false: "
        "the planner takes the tangent of the library's cost at the mean gradient. Null for "
        "planners that take any cost.")
        .below("merge"),
    row<&Summary::merge_optimal_iteration_time_s>(
        "Iteration time of the best merge on the same network, s; null in a sweep.")
        .below("merge"),
    row<&Summary::merge_gap_to_optimal>(
        "Iteration time over that of the best merge, less 1; null in a sweep.")
        .below("merge"),
    mean<&Summary::fct_mean_s>("Completion time of messages on the network, mean, s.").below("fct"),
    mean<&Summary::fct_p50_s>("The same, median, s.").below("fct"),
    mean<&Summary::fct_p95_s>("The same, 95th percentile by nearest rank, s.").below("fct"),
    mean<&Summary::fct_p99_s>("The same, 99th percentile, s.").below("fct"),
    mean<&Summary::fct_max_s>("The same, longest, s.").below("fct"),
    mean<&Summary::period_s>(
        "Period of the program of an iteration, s: its steps times iteration_time_s, but in a run "
        "of pipe_sgd whose second half is not its steady state."),
    row<&Summary::steps>("Optimizer steps of an iteration of the program."),
    gain<&Summary::utilization>("Period with exchanges that take no time over the period.",
                                Replicated::mean),
    mean<&Summary::outer_communication_s>(
        "Time of a round with an outer exchange under way, s; hidden or not.")
        .only(kRounds),
    row<&Summary::local_steps>("Steps of a round.").only(kRounds),
    row<&Summary::overlap_steps>(
        "Steps during which training goes on while a fragment is exchanged.")
        .only(kRounds),
    row<&Summary::outer_staleness_steps>("Steps between sending a fragment and merging it.")
        .only(kRounds),
    row<&Summary::units>("Sharding units, whose parameters are gathered together.").only(kSharded),
    row<&Summary::certified>(
        "Whether no other units have a shorter period (of whole blocks, with many layers); "
        "wrapping optimal only.")
        .only(kSharded),
    row<&Summary::memory_bytes>(
        "Most memory of a worker at any time of a step, bytes: the sum of memory_parts. "
        "Activations of a trace are not known and not counted."),
    row<&Summary::memory_low_bytes>(
        "The same with an allocator that loses nothing and a context of 0.5 GB, and, where "
        "/workload/loss is not given, a loss in chunks."),
    row<&Summary::memory_high_bytes>(
        "The same with an allocator that loses 20 % of what comes and goes, a context of 2 GB and "
        "gradients that stay between steps, and, where /workload/kernels is not given, composed "
        "kernels."),
    row<&Summary::memory_reserved_bytes>(
        "What nvidia-smi would show, bytes: memory_bytes with the share of what comes and goes "
        "that PyTorch's allocator keeps (medians of published figures), at most the capacity."),
    row<&Summary::memory_capacity_bytes>("Memory of a GPU, bytes (/cluster/gpu_memory_bytes)."),
    row<&Summary::memory_fits>(
        "Whether memory_capacity_bytes hold the model: false where they do not hold memory_bytes, "
        "true where they hold memory_high_bytes; null between, where the capacity is not known, "
        "and where activations are not and the rest fits."),
    row<&Summary::memory_parts_parameters_bytes>(
        "Parameters that stay, as they are stored or computed with, without gathered units.")
        .below("memory_parts"),
    row<&Summary::memory_parts_master_bytes>(
        "Further copy of the parameters that the optimizer updates.")
        .below("memory_parts"),
    row<&Summary::memory_parts_gradients_bytes>(
        "Gradients at that time, without those of units that are not reduced yet.")
        .below("memory_parts"),
    row<&Summary::memory_parts_optimizer_bytes>("State of the optimizer (/training/optimizer).")
        .below("memory_parts"),
    row<&Summary::memory_parts_buckets_bytes>(
        "Messages of several gradients, which are copies of them: all of a step, or Horovod's "
        "fusion buffer.")
        .below("memory_parts"),
    row<&Summary::memory_parts_copies_bytes>(
        "Further copies of the algorithm: gradients under way, residuals of compression, state of "
        "an outer optimizer, what servers next to a worker hold.")
        .below("memory_parts"),
    row<&Summary::memory_parts_units_bytes>(
        "Gathered units and their unreduced gradients at that time.")
        .below("memory_parts"),
    row<&Summary::memory_parts_activations_bytes>(
        "Activations at that time, by the shapes of the model (Korthikanti et al. 2022) or as "
        "given; null if unknown.")
        .below("memory_parts"),
    row<&Summary::memory_parts_update_bytes>(
        "Temporaries of an update that takes all parameters at once, where that is the time.")
        .below("memory_parts"),
    row<&Summary::memory_parts_allocator_bytes>(
        "What the allocator loses, 5 % of what comes and goes (assumed; 0 to 20 %).")
        .below("memory_parts"),
    row<&Summary::memory_parts_context_bytes>(
        "Context of the GPU's driver, kernels and workspaces of libraries, 1 GB (assumed), and "
        "with /workload/kernels tensorflow the 5 % of the capacity that its allocator does not "
        "take.")
        .below("memory_parts")};

} // namespace figures

inline constexpr auto& kSummaryFields = figures::kAll;

// A figure in JSON; null, or an empty list, where the run has none.
[[nodiscard]] io::Json figure_json(const Summary& summary, const SummaryField& field);

// The key of the step, which records are read and written by; those of other figures are the names
// of their members, too (summary_fields.hpp).

inline constexpr std::string_view kIterationTime = io::member_name<&Summary::iteration_time_s>();

} // namespace stepsim::study
