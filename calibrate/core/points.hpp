#pragma once
// Groups samples for a fit (CAL 4.1): one group per operation, algorithm, ranks, column and
// start-up, with one point per size, the median of the repetitions. Messages of 0 bytes are kept
// apart: their model time is 0 by definition, so they are only reported.

#include "calibrate/core/line_fit.hpp"
#include "scenario/files/samples_file.hpp"

namespace stepsim::calibrate {

// The smallest of the ascending values with at least `share` of them at or below it (nearest rank).
[[nodiscard]] double nearest_rank(std::span<const double> ascending, double share);

// Median, 90th percentile and largest of the absolute relative errors.
struct ErrorSpread {
  double median{}, p90{}, most{}; // p90 by nearest rank
};
// Empty without errors.
[[nodiscard]] std::optional<ErrorSpread> spread_of(std::vector<double> errors);

struct Point {
  double bytes{};
  double time_s{}; // median
  double min_s{};
  double p90_s{}; // nearest rank
  std::size_t count{};
};

// One sample and the number of its pass, from 0. Passes are numbered in the order in which their
// numbers in the file are met; samples without a number are the passes 0, 1, .. of their size.
struct Repetition {
  Datum datum;
  std::size_t pass{};
};

// [bytes] the seconds of all repetitions.
[[nodiscard]] std::map<double, std::vector<double>>
seconds_by_size(std::span<const Repetition> repetitions);

struct Group {
  std::string op, algorithm; // algorithm "" = unknown
  std::int64_t ranks{};
  // Column of an NCCL log (in-place or not), or variant and launch of gpu_bench; "" = unknown.
  std::string column;
  links::StartUp start_up{};
  std::string device, dtype; // "" = unknown
  // Value of the first set of samples in the group; empty = not given there.
  std::optional<std::int64_t> gpus_per_node;
  std::vector<Point> points;           // bytes > 0, strictly ascending; at least 2
  std::vector<Point> empty;            // 0 bytes, at most one
  std::vector<Repetition> repetitions; // all samples of bytes > 0
  std::size_t passes{}; // smallest number of passes of any size; 1 = a table of single times

  [[nodiscard]] std::string text() const;        // "allreduce P=8", "allreduce ring P=8"
  [[nodiscard]] std::vector<Datum> data() const; // size and median of every point
};

// Returns the groups in the order in which they first appear in the files. Throws InputError if a
// group has fewer than two sizes above 0, two devices, or two element types.
[[nodiscard]] std::vector<Group> group_samples(std::span<const io::Samples> files);

} // namespace stepsim::calibrate
