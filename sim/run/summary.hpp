#pragma once
// The figures of a run. Their table (summary_fields.hpp) explains each of them.

#include <cassert>

#include "base/quantity.hpp"
#include "document/json.hpp"

namespace stepsim::study {

// A part of the interval of the iteration time: a factor of typical conditions, or something else
// that is not known for sure.
struct IntervalPart {
  std::string_view factor; // a word of kFactors, or one of those below
  double share{};          // of the squared width above the iteration time
  // Logarithm of the time with the factor one standard deviation above its value, or below it, over
  // the time with its value.
  double at_high{}, at_low{};
};
// 80 % of a normal distribution lie within so many standard deviations, as CON 4 rounds it.
inline constexpr double kQuantile80 = 1.2816;
inline constexpr double kLevel80 = 0.8;
// Standard deviation of the logarithm of a step, between runs whose factors are known.
inline constexpr double kRestSpread = 0.06;
inline constexpr double kSeriesSpread = 0.04; // and of one with a measured one of its series
inline constexpr std::string_view kRestOfInterval = "rest"; // between runs whose factors are known
inline constexpr std::string_view kEstimateOfInterval = "estimate"; // of computing, for a GPU
inline constexpr std::string_view kLibraryOfInterval = "library";   // the model of a library
inline constexpr std::string_view kMeanOfInterval = "iterations";   // how few random ones there are
// Rates of a node type, whose files say how they differ between machines.
inline constexpr std::string_view kRingOfInterval = "ring_Bps", kCardOfInterval = "nic_Bps";

// Values are in seconds unless the name says otherwise, and empty if the run has no such figure.
struct Summary {
  std::optional<double> iteration_time_s, forward_s, backward_s, update_s, codec_compute_s,
      compute_s;
  std::optional<double> communication_s, exposed_communication_s, overlap_fraction;
  std::optional<double> input_wait_s; // of the slowest worker; synchronous steps only
  std::optional<double> speedup, scaling_efficiency, samples_per_s;
  std::optional<double> makespan_s, makespan_drained_s, closed_form_s, paper_form_s;
  std::optional<double> straggler_wait_s, wire_bytes, lower_bound_s, interference_s;
  std::optional<double> iteration_time_low_s, iteration_time_high_s, interval_level;
  std::vector<IntervalPart> interval_parts; // the largest first
  std::optional<double> compute_low_s, compute_high_s;
  std::optional<double> merge_waiting_merges, merge_optimal_iteration_time_s, merge_gap_to_optimal;
  std::optional<bool> merge_certified_optimal, merge_linear;
  std::optional<bool> closed_form_is_bound; // whether closed_form_s is only an upper bound
  // Pipelined and parameter-server training (PIP 11, 15).
  std::optional<double> pipeline_width, staleness_mean, staleness_max, in_flight_gradients;
  std::optional<double> codec_hops;
  // Compression (SPA 5).
  std::optional<double> select_s, residual_s, compress_s, staging_s, wire_s, merge_s, scatter_s;
  std::optional<double> density, k;
  std::optional<double> speedup_vs_dense_sequential, speedup_vs_dense_overlapped;
  // Simulated networks (PKT 8): completion times of messages, lost fractions of the bytes of
  // gradients and parameters, and the effect of the loss on training.
  std::optional<double> fct_mean_s, fct_p50_s, fct_p95_s, fct_p99_s, fct_max_s;
  std::optional<double> loss_fraction, stale_fraction, effective_loss, epochs, time_to_accuracy_s;
  std::optional<bool> converges;
  // The whole training (/job).
  std::optional<double> steps_to_finish, time_to_finish_s, cost_usd, goodput, checkpoint_interval_s;
  // Training that is evaluated as a program (TRN 8.2), and the memory of a rank.
  std::optional<double> period_s, steps, utilization, units;
  std::optional<double> outer_communication_s, local_steps, overlap_steps, outer_staleness_steps;
  std::optional<double> memory_bytes, memory_low_bytes, memory_high_bytes, memory_reserved_bytes,
      memory_capacity_bytes;
  std::optional<double> memory_parts_parameters_bytes, memory_parts_master_bytes,
      memory_parts_gradients_bytes, memory_parts_optimizer_bytes, memory_parts_buckets_bytes,
      memory_parts_copies_bytes, memory_parts_units_bytes, memory_parts_activations_bytes,
      memory_parts_update_bytes, memory_parts_allocator_bytes, memory_parts_context_bytes;
  std::optional<bool> memory_fits;
  std::optional<bool> certified;                 // optimal sharding units: none can be better
  std::vector<std::int64_t> staleness_histogram; // [staleness]: number of gradients
  std::string_view bottleneck;                   // one of the words that the table lists
  std::string_view baseline;                     // baseline of speedup, in words
};

// The iteration time of a run, s. Every run has one.
[[nodiscard]] inline double step_of(const Summary& summary) {
  assert(summary.iteration_time_s && "summaries are asked for their step when it is there");
  return *summary.iteration_time_s;
}
// The interval of the iteration time, s; empty where it has none.
[[nodiscard]] std::optional<base::Band> band_of(const Summary& summary);

// All figures in the order of the table, with the keys of sweep records. Empty figures are null.
[[nodiscard]] io::Object flat_summary(const Summary& summary);
// The summary as `stepsim run --json` shows it, in which the figures of a group are one object.
[[nodiscard]] io::Json summary_tree(const Summary& summary);

} // namespace stepsim::study
