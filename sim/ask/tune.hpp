#pragma once
// The best value of one knob of training: a list of values is run as a sweep, the least iteration
// time wins, and what the scenario, the default and the best possible merge would give stands
// beside it.
//
//   bucket_bytes, fusion_bytes   every value that changes the buckets, so nothing better exists;
//                                fusion_bytes with several element types is scanned
//   collective, schedule         all that the scenario can have, without auto, parameter_server
//                                and exhaustive; collnet only where the scenario has it
//   pipeline_width               1..max_width: the smallest within width_tolerance of the widest
//                                (both are keys of /training)
//   density                      most entries that are at least as fast as dense, by bisection
//   others                       scanned, then refined around the best
//
// regret = iteration time of a reference / that of the best - 1.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ask/tune_points.hpp"
#include "ask/tune_values.hpp"
#include "scenario/files.hpp"
#include "sweep/rows.hpp"
#include "train/step/compression_gain.hpp"
#include "json/json.hpp"

namespace stepsim::study {

// The merge with the shortest iteration of all that send one message after the other; schedules
// that cut gradients or send several at once can be faster.
inline constexpr std::string_view kBestMerge = "best_merge";

struct TuneReference {
  // current, default, optimal (the knob's own), best_merge, dense_sequential, dense_overlapped
  std::string name;
  TunePoint point;
  std::optional<double> regret; // empty if the reference failed or there is no best
  // Knob density: most entries at which compression is at least as fast as this dense reference.
  std::optional<std::int64_t> largest_k;
};

struct Tuning {
  std::optional<TunePoint> best; // empty: no density is at least as fast as dense
  std::vector<TunePoint> curve;  // numbers ascending; collectives and schedules by time
  std::vector<TuneReference> references;
  // How close the best is known: 0 where it is exact; relative distance to the farther of its two
  // neighbours where scanned; width_tolerance, of the time, for pipeline_width.
  double tolerance{};
  bool exact = false; // no value that was not tried can be better
  std::vector<std::string> warnings;
};

// `values`: what tune_values gives for `problem`. Throws InputError if none of a sample of the
// values can be parsed, SimulationError if every value fails, or, for the knob density, the run
// with one entry.
[[nodiscard]] Tuning tune(const TuneProblem& problem, const TuneValues& values, Files& files,
                          const RowsOptions& options);
// The object that `tune --json` prints: knob, best, curve, references, tolerance, exact, warnings,
// and for the knob density baseline.
[[nodiscard]] io::Json tuning_tree(const TuneProblem& problem, const Tuning& tuning);

} // namespace stepsim::study
