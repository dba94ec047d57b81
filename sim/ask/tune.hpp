#pragma once
// The best value of one knob of training: a list of values is run as a sweep, the least iteration
// time wins, and what the scenario, the default and the best possible merge would give stands
// beside it.
//
//   bucket_bytes, fusion_bytes   every value that changes the buckets, so nothing better exists
//   collective, schedule         all of them
//   pipeline_width               1..max_width: the smallest within width_tolerance of the widest
//   density                      the largest number of entries that still beats dense, by bisection
//   others                       scanned, then refined around the best
//
// regret = iteration time of a reference / that of the best - 1.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/files.hpp"
#include "sweep/rows.hpp"
#include "train/step/compression_gain.hpp"
#include "json/json.hpp"

namespace stepsim::study {

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

struct KnobRow {
  Knob knob;
  std::string_view name;
  std::string_view pointer; // of the scenario
  std::string_view summary; // one line of help
};
[[nodiscard]] std::span<const KnobRow> knobs();
[[nodiscard]] const KnobRow& row(Knob knob);
// UsageError with the nearest name.
[[nodiscard]] Knob parse_knob(std::string_view name);

struct TuneProblem {
  io::Json scenario;
  Knob knob{};
  train::DenseBaseline baseline = train::DenseBaseline::sequential; // density
};

// What will be run.
struct TuneValues {
  io::Json scenario;            // with the algorithm or schedule that reads the knob
  std::vector<io::Json> values; // ascending where they are numbers
  io::Json default_value;
  bool exact = false;             // no other value can be better
  bool refine = false;            // between the neighbours of the best, on a logarithmic scale
  bool whole = false;             // integers only
  std::vector<std::string> notes; // what was changed in the scenario
};
// Throws InputError for the scenario, UsageError for a knob that it cannot have.
[[nodiscard]] TuneValues tune_values(const TuneProblem& problem, Files& files);

struct TunePoint {
  io::Json value; // null: a reference that does not have the knob
  std::optional<double> iteration_time_s;
  io::Json record; // flat, as in a sweep
  std::string error;
};

// The merge with the shortest iteration of all that send one message after the other; schedules
// that cut gradients or send several at once can be faster.
inline constexpr std::string_view kBestMerge = "best_merge";

struct TuneReference {
  // current, default, optimal (the knob's own), best_merge, dense_sequential, dense_overlapped
  std::string name;
  TunePoint point;
  std::optional<double> regret;
  std::optional<std::int64_t> largest_k; // density: of the dense ones
};

struct Tuning {
  std::optional<TunePoint> best; // empty: no density beats dense
  std::vector<TunePoint> curve;
  std::vector<TuneReference> references;
  // How close the best is known: 0 where it is exact; relative distance to the nearest values tried
  // where scanned; width_tolerance, of the time, for pipeline_width.
  double tolerance{};
  bool exact = false;
  std::vector<std::string> warnings;
};

// Throws SimulationError if every value fails.
[[nodiscard]] Tuning tune(const TuneProblem& problem, const TuneValues& values, Files& files,
                          const RowsOptions& options);
[[nodiscard]] io::Json tuning_tree(const TuneProblem& problem, const Tuning& tuning);

// The smallest density at which `entries` of `elements` are selected.
[[nodiscard]] double density_of(std::int64_t entries, std::int64_t elements);

} // namespace stepsim::study
