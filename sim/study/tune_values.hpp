#pragma once
// Chooses the values of a knob that are tried, and the scenario they are tried in:
//   bucket sizes            the values at which the buckets change or, if there
//                           are many, whole MiB that are evenly spaced on a logarithmic scale
//   pipeline_width          every width
//   collective, schedule    every word that the scenario can have
//   all other knobs         values that are evenly spaced on a logarithmic scale

#include "programs/step/compression_gain.hpp"
#include "study/sweep/rows.hpp"

namespace stepsim::study {

// The table of knobs of `stepsim tune`: one row per knob, in the order of the enumerators. A knob
// is one key of a scenario, which only some schedules, collectives or training algorithms read.

enum class Knob {
  bucket_bytes,
  fusion_bytes,
  cycle_s,
  partition_bytes,
  credit_bytes,
  block_bytes,
  pipeline_width,
  density,
  collective,
  schedule,
};

inline constexpr auto kKnobNames = base::words<Knob>();

struct KnobSetup;

struct KnobRow {
  Knob knob;
  std::string_view section; // JSON pointer of the object in a scenario that has the key
  std::string_view summary; // one line of help
  bool merges;              // decides which gradients travel in one message
  void (*values)(KnobSetup& setup, Knob knob);
  std::string_view name = kKnobNames[knob]; // of the key

  [[nodiscard]] std::string pointer() const { return std::string(section).append(name); }
};

// All rows, in the order in which help prints them.
[[nodiscard]] std::span<const KnobRow> knobs();
[[nodiscard]] const KnobRow& row(Knob knob);
// The knob of this name. Throws UsageError, with the nearest name, if it is unknown.
[[nodiscard]] Knob parse_knob(std::string_view name);

struct TuneProblem {
  io::Json scenario;
  Knob knob{};
  // Knob density only: the kind of dense training that compression must not be slower than.
  programs::DenseBaseline baseline = programs::DenseBaseline::sequential;
};

// The values that will be run, and the scenario for them.
struct TuneValues {
  io::Json scenario;            // with the algorithm or schedule that reads the knob
  std::vector<io::Json> values; // ascending if they are numbers
  io::Json default_value;       // default of the knob's key; null for density
  bool exact = false;           // no value outside `values` can be better
  int refinements = 0;          // rounds in which values around the best are tried next
  std::int64_t unit = 0;        // values are multiples of it; 0: any number
  // The answer is the value nearest the default within 1 % of the best, not the best itself.
  bool near_default = false;
  std::vector<std::string> notes; // sentences about what was changed in the scenario
};
// The values for `problem`. Throws InputError if the scenario is invalid, and UsageError if it
// cannot have the knob.
[[nodiscard]] TuneValues tune_values(const TuneProblem& problem, Files& files);

// The values of a bucket size at which the buckets change (MER 5.2, 5.3, 6.3). Every value between
// two neighbours in the list makes the same plan, so that trying the values of the list finds the
// best value exactly.

// Values of fusion_bytes for `horovod`, of bucket_bytes for `ddp` and `dear`: ascending, with at
// least one value for every plan that any value makes. `schedule` must be one of these, with
// gradients of one element type for `horovod` and without dear_layers for `dear` (not checked).
// These schedules close a bucket by comparing a sum of neighbouring gradients with the value, so
// that the plan stays the same until the value passes the next sum that was compared. Ends once it
// has more than `most` values.
[[nodiscard]] std::vector<std::int64_t>
plan_changes(const buckets::Problem& problem, buckets::Schedule schedule,
             const buckets::ScheduleOptions& options,
             std::size_t most = std::numeric_limits<std::size_t>::max());

// The points of a knob's curve: one run of the scenario per value of the knob.

struct TunePoint {
  io::Json value;                         // value of the knob; null for a reference without it
  std::optional<double> iteration_time_s; // empty if the run failed
  io::Json record;                        // flat record as in a sweep; null if nothing was run
  std::string error;                      // empty if the run did not fail

  [[nodiscard]] bool ran() const { return iteration_time_s.has_value(); }
  // The iteration time, s; infinite if the run failed.
  [[nodiscard]] double step_s() const { return iteration_time_s.value_or(HUGE_VAL); }
};

// The point of `value`. `record` is the flat record of the run, as rows_of() and row_of()
// (sweep/rows.hpp) return it.
[[nodiscard]] TunePoint tune_point(io::Json record, io::Json value);

// Runs the scenario with each of `values` at `pointer` and returns one point per value, in the same
// order. A value with which the scenario cannot be parsed, or whose run fails, gives a point with
// an error. Each new warning is appended to `warnings` once. Throws InputError if the scenario can
// be parsed with none of up to 16 values that are spread over the list (check_some_point()).
[[nodiscard]] std::vector<TunePoint> run_points(const io::Json& scenario,
                                                const std::string& pointer,
                                                const std::vector<io::Json>& values, Files& files,
                                                const SweepOptions& options,
                                                std::vector<std::string>& warnings);

} // namespace stepsim::study
