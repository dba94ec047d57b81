#pragma once
// Groups samples for a fit (CAL 4.1): one group per operation, algorithm, ranks, column and
// start-up, with one point per size, the median of the repetitions. Messages of 0 bytes are kept
// apart: their model time is 0 by definition, so they are only reported.

#include "calibrate/core/least_squares.hpp"
#include "scenario/files/samples_file.hpp"

namespace stepsim::calibrate {

// The smallest of the ascending values with at least `share` of them at or below it (nearest rank).
[[nodiscard]] double nearest_rank(std::span<const double> ascending, double share);

// Median, 90th percentile and largest of the absolute relative errors.
struct ErrorSpread {
  double median{}, p90{}, most{}; // p90 by nearest rank
};
// A number of the spread; empty without one.
[[nodiscard]] inline std::optional<double> part_of(const std::optional<ErrorSpread>& spread,
                                                   double ErrorSpread::*part) {
  return spread ? std::optional((*spread).*part) : std::nullopt;
}
// Empty without errors.
[[nodiscard]] std::optional<ErrorSpread> spread_of(std::vector<double> errors);

struct Point {
  double bytes{};
  double time_s{}; // median
  double min_s{};
  double p90_s{}; // nearest rank
  std::size_t count{};
};

[[nodiscard]] inline Datum datum_of(const io::Sample& sample) {
  return {sample.bytes, sample.time_s};
}
// [bytes] the seconds of all samples.
[[nodiscard]] std::map<double, std::vector<double>>
seconds_by_size(std::span<const io::Sample> samples);

// `samples` holds all samples of more than 0 bytes. Their passes are numbered from 0, in the order
// in which the file names them. Samples without a pass are numbered one after another for each
// size. `gpus_per_node` is taken from the first set of the group.
struct Group : io::SampleSet {
  std::vector<Point> points; // bytes > 0, strictly ascending; at least 2
  std::vector<Point> empty;  // 0 bytes, at most one
  std::size_t passes{};      // smallest number of passes of any size; 1 = a table of single times

  [[nodiscard]] std::string text() const;        // "allreduce P=8", "allreduce ring P=8"
  [[nodiscard]] std::vector<Datum> data() const; // size and median of every point
};

// Returns the groups in the order in which they first appear in the files. Throws InputError if a
// group has fewer than two sizes above 0, two devices, or two element types.
[[nodiscard]] std::vector<Group> group_samples(std::span<const io::Samples> files);

} // namespace stepsim::calibrate
