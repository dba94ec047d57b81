#pragma once
// Chooses the best of several runs. If all runs process the same number of batches per iteration
// (one per worker and micro-batch) of the same size, the shortest iteration is best. If the number
// or the size varies, the highest number of samples per second of all workers is best, because the
// shortest iteration would mostly be the one with the fewest workers. A run that needs more memory
// than a device has is never best.

#include "run/summary.hpp"
#include "study/sweep/sweep_file.hpp"

namespace stepsim::study {

// Orders of steps that are stated or withheld (CON 4). Under typical conditions the times of two
// runs share most of what is not known of a site: the difference between them is far surer than
// either time. A step is shorter than another for sure where the difference is more than what
// remains of its spread, and more than 5 %.

// Logarithm of the time of x over that of y, and its standard deviations between sites to either
// side, as those of a step (CON 4): a factor may move the difference in one direction alone.
struct PairedDifference {
  double value{};
  double up{};
  double down{};
  [[nodiscard]] bool is_stated() const;
  // The range that holds 1 - x / y at 80 % of all sites.
  [[nodiscard]] std::pair<double, double> range_of_gain() const;
};

// `log_ratio`: logarithm of the time of x over that of y. `x`, `y`: records of their runs. Empty
// where one of them has no parts of its interval.
[[nodiscard]] std::optional<PairedDifference>
paired_difference(const io::Json& x, const io::Json& y, double log_ratio);
// The same for the parts of the intervals of two runs.
[[nodiscard]] std::optional<PairedDifference> paired_difference(std::span<const IntervalPart> x,
                                                                std::span<const IntervalPart> y,
                                                                double log_ratio);

// The place of a row among others.
struct Standing {
  std::int64_t rank{}; // 1 + number of rows that are shorter for sure; 0 of a row that failed
  // What to measure to tell the row from the best one; empty for the best one, and where the best
  // one is shorter for sure.
  std::string measure;
};

// The standings of records with these logarithms of their times (infinite where a run failed);
// `best` is the row with the shortest. Empty if any other row has no parts of its interval, and for
// more than 2,000 rows.
[[nodiscard]] std::vector<Standing> standings(std::span<const io::Json> rows,
                                              std::span<const double> log_times, std::size_t best);

// Puts `stated_rank` and `not_told_apart` into a row.
void set_standing(const Standing& standing, io::Json& row);

// The criterion: least seconds per iteration, most samples per second, or most speed-up per worker.
enum class BestBy { iteration_time, throughput, efficiency };
inline constexpr auto kBestBy = base::words<BestBy>();

struct Ranking {
  BestBy by = BestBy::iteration_time;
  bool batches_differ = false; // in number or size
  // Index of the best row, the first of equals; empty if all fail or exceed the memory.
  std::optional<std::size_t> best;
  // [row]: its iteration time / that of the best row, or the throughput or efficiency of the best
  // row / its own. 1 for the best row, more for worse rows; a row that exceeds the memory may be
  // below 1. If all do, they are compared with the best of them. Empty for a failed row, and if the
  // divisor is 0.
  std::vector<std::optional<double>> ratios;
  // [row]: its place among the others that fit, as far as the order is sure; empty without typical
  // conditions.
  std::vector<Standing> standings;
};

// The workers of a record: its speed-up over its efficiency; empty where it has none of them.
[[nodiscard]] std::optional<std::int64_t> workers_of(const io::Json& row);
// The batches (workers x micro_batches) per iteration of a record. If the point failed, the number
// of workers is computed from the keys of its scenario.
[[nodiscard]] std::int64_t batches_of_row(const Sweep& sweep, const io::Json& row);

// Ranks the records `rows` with `batches` per iteration. The throughput is samples_per_s; if any
// row lacks it, because there is no batch size, all rows use batches / iteration time.
[[nodiscard]] Ranking rank_rows(std::span<const io::Json> rows,
                                std::span<const std::int64_t> batches,
                                std::optional<BestBy> asked = std::nullopt);

// The value of a record by this criterion: seconds, samples (or batches) per second, or a ratio.
// Empty if the row failed, or has null for it or an iteration time of 0 to divide by.
[[nodiscard]] std::optional<double> value_by(BestBy by, const io::Json& row, std::int64_t batches,
                                             bool has_samples);
// Whether the run of a record needs more memory than a device has.
[[nodiscard]] bool exceeds_memory(const io::Json& row);
// memory_verdict() of a record; empty without a capacity.
[[nodiscard]] std::string memory_verdict_of(const io::Json& row);
// Whether every row that did not fail has samples_per_s.
[[nodiscard]] bool has_samples(std::span<const io::Json> rows);

} // namespace stepsim::study
