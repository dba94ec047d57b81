#pragma once
// Finds the best value of one knob, which is a key of a scenario. A list of values is run as a
// sweep and the shortest iteration time wins. The result is shown next to references: the
// scenario's own value, the default, and the best possible merge.
//
//   bucket_bytes, fusion_bytes   one value for each division into buckets that a value can make or,
//                                if there are more than 24, a scan of whole MiB, refined once
//   collective, schedule         every word that the scenario can have, except auto,
//                                parameter_server and exhaustive; collnet only if the scenario
//                                uses it
//   pipeline_width               1..max_width: the smallest width whose iteration time exceeds the
//                                time of the widest by at most width_tolerance (both are keys of
//                                /training)
//   density                      the largest number of entries that is at least as fast as dense
//                                training, by bisection
//   all other knobs              a scan, which is then refined around the best value
//
// Where the default is a number the answer is the value nearest to it within 1 % of the shortest
// time. Of other values that are equally good the scenario's own is the best, then the default,
// then the first; this does not hold for pipeline_width and density. References that the scenario
// cannot have are left out.
//
// regret = iteration time of a reference / iteration time of the best value - 1

#include "study/tune_values.hpp"

namespace stepsim::study {

// The reference with the shortest iteration of all merges that send one message after the other.
// Schedules that cut gradients or send several messages at once can be faster.
inline constexpr std::string_view kBestMerge = "best_merge";

// How much longer than the shortest a step with the answer may be.
inline constexpr double kNearBest = 0.01;

// Median error of predicted steps against 830 published ones, by the share of the step that
// communication is exposed for: the two classes of docs/accuracy.md.
[[nodiscard]] constexpr double published_error(double exposed_share) {
  return exposed_share > 0.15 ? 0.288 : 0.05;
}
// The same or, where layer times and exchanges of the scenario were measured, the largest 90th
// percentile of the errors of steps in the measurements of docs/pytorch.md by its present rule,
// which were predicted from such measurements.
inline constexpr double kMeasuredError = 0.044;
[[nodiscard]] double published_error(const Scenario& scenario, double exposed_share);

// By how much a step is shorter than another one, and whether that is a reason to change anything.
struct Gain {
  double value{};           // share of the other step
  double published_error{}; // of such steps
  // That holds the gain at 80 % of all sites; under typical conditions.
  std::optional<std::pair<double, double>> range{};
  [[nodiscard]] bool worth_it() const {
    return range ? range->first > 0 : value >= published_error;
  }
};
// The gain of the run `record` over the run `reference` of a scenario of the same class.
[[nodiscard]] Gain gain_over(const Scenario& scenario, const io::Json& record,
                             const io::Json& reference);
// Puts gain, published_error, advice and, where there is a range, gain_low and gain_high into an
// answer; null without a gain.
void write_gain(const std::optional<Gain>& gain, io::Json& tree);

struct TuneReference {
  // current, default, optimal (the simulator chooses the knob itself), best_merge,
  // dense_sequential, dense_overlapped
  std::string name;
  TunePoint point;
  std::optional<double> regret; // empty if the reference failed or there is no best
  // Knob density only: most entries with which compression is at least as fast as this reference.
  std::optional<std::int64_t> largest_k;
};

struct Tuning {
  std::optional<TunePoint> best; // empty: no density is at least as fast as dense
  std::vector<TunePoint> curve;  // numbers ascending; collectives and schedules by time
  std::vector<TuneReference> references;
  // The uncertainty of `best`: 0 if it is exact; after a scan, the relative distance to the farther
  // of its two neighbours; for pipeline_width, width_tolerance, which is relative to the time.
  double tolerance{};
  bool exact = false;        // no value outside `curve` can be better
  bool near_default = false; // `best` is the value nearest the default, as above
  // Of the best value over the scenario's own (or the default); empty without such a reference, and
  // for the knob density.
  std::optional<Gain> gain;
  // The answer at half and at twice the latency; empty where the default is no number or no latency
  // counts.
  std::optional<std::pair<io::Json, io::Json>> range;
  std::vector<std::string> warnings;
  [[nodiscard]] bool worth_it() const { return !gain || gain->worth_it(); }
};

// Runs `values`, which must come from tune_values() for the same `problem`. Throws InputError if
// none of a sample of the values can be parsed, and SimulationError if every value fails or, for
// the knob density, if the run with one entry fails.
[[nodiscard]] Tuning tune(const TuneProblem& problem, const TuneValues& values, Files& files,
                          const SweepOptions& options);
// The object that `tune --json` prints: knob, best, curve, references, tolerance, exact,
// near_default, gain, gain_low and gain_high under typical conditions, published_error, advice,
// warnings, latency_range if there is one and, for the knob density only, baseline.
[[nodiscard]] io::Json tuning_tree(const TuneProblem& problem, const Tuning& tuning);

// The largest density at which training with a sparse exchange is at least as fast as dense
// training that exchanges after backward (baseline sequential) or during backward (overlapped).

// What tune() calls for the knob density; tune() then adds the regrets. `best` is empty if sending
// even one entry is slower than problem.baseline. largest_k of each dense reference is the largest
// number of entries with which training is at least as fast as this reference, 0 if there is none.
// Throws SimulationError if the run with one entry fails.
[[nodiscard]] Tuning tune_density(const TuneProblem& problem, const TuneValues& values,
                                  Files& files, const SweepOptions& options);

// entries / elements, raised by single floating-point steps until floor(density * elements) is not
// below `entries`; at most 1. Both must be > 0.
[[nodiscard]] double density_of(std::int64_t entries, std::int64_t elements);

// Finds the bucket sizes that PyTorch's DistributedDataParallel should use in a scenario: one size
// for all buckets (bucket_cap_mb) and, if DDP can make the best merge that way, a list with a size
// for each bucket (bucket_cap_mb_list). 1 MiB is 2^20 bytes, as in PyTorch.

struct DdpBuckets {
  Bytes cap;                              // best single bucket size
  Bytes first;                            // size of the first bucket if `cap` is used
  Seconds cap_step;                       // iteration time with `cap`
  std::optional<std::vector<Bytes>> list; // sizes of the best buckets, in launch order
  Seconds step;                           // iteration time with `list`, or with `cap` without list
  Seconds default_step;                   // iteration time with PyTorch's defaults
  // Iteration time with the buckets of the trace, where the scenario has these.
  std::optional<Seconds> trace_step;
  Gain gain;           // of `step` over `trace_step` or, without it, over `default_step`
  std::string no_list; // why there is no list; empty if there is one
  std::vector<std::string> warnings; // warnings of the runs
};

// `cap` is the answer of tune() for bucket_bytes: the value nearest PyTorch's default within 1 % of
// the shortest (MER 5.2). There is a list only if a list of sizes can express every
// contiguous division of the gradients: all gradients are dense and have one element type, and DDP
// fills its buckets in the order of the backward pass. Throws InputError if the scenario is
// invalid, UsageError if it cannot have bucket_bytes, and SimulationError if every value fails.
[[nodiscard]] DdpBuckets ddp_buckets(const io::Json& scenario, Files& files,
                                     const SweepOptions& options);

// The settings for DDP as a JSON object, with a Python snippet that applies them or, where the gain
// is not worth it, leaves PyTorch's defaults.
[[nodiscard]] io::Json ddp_buckets_tree(const io::Json& scenario, const DdpBuckets& buckets);

} // namespace stepsim::study
