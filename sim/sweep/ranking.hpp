#pragma once
// Which of several runs is the best. Where all of them train with as many batches in an iteration
// (one per worker and micro-batch) the shortest iteration is; where the number varies, an iteration
// on one worker is always among the shortest and says nothing, so that the samples per second of
// all workers decide. A run that needs more memory than a device has is best only among such runs.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/words.hpp"
#include "sweep/sweep_file.hpp"
#include "json/json.hpp"

namespace stepsim::study {

// Seconds per iteration, least; samples per second, most; speed-up per worker, most.
enum class BestBy { iteration_time, throughput, efficiency };
inline constexpr auto kBestBy = base::words<BestBy>({{BestBy::iteration_time, "iteration_time"},
                                                     {BestBy::throughput, "throughput"},
                                                     {BestBy::efficiency, "efficiency"}});

struct Ranking {
  BestBy by = BestBy::iteration_time;
  bool batches_differ = false;
  std::optional<std::size_t> best; // row, of equal ones the first; empty if all failed
  // Per row, null where it failed: iteration time over the best one's, or throughput or efficiency
  // of the best over the row's. 1 is the best, more is worse.
  std::vector<std::optional<double>> ratios;
};

// Batches (workers x micro_batches) of an iteration of a record, which names its point. The workers
// of a point that failed are those that its scenario's keys name.
[[nodiscard]] std::int64_t batches_of_row(const Sweep& sweep, const io::Json& row);

// `rows` are records, `batches` the batches of their iterations. Throughput is samples_per_s; where
// a row has none (no batch size), batches per iteration time in all rows.
[[nodiscard]] Ranking rank_rows(std::span<const io::Json> rows,
                                std::span<const std::int64_t> batches,
                                std::optional<BestBy> asked = std::nullopt);

// What a criterion looks at in a record: seconds, samples (or batches) per second, a ratio. Empty
// where the row failed.
[[nodiscard]] std::optional<double> value_by(BestBy by, const io::Json& row, std::int64_t batches,
                                             bool has_samples);
// Whether the run of a record needs more memory than a device has.
[[nodiscard]] bool exceeds_memory(const io::Json& row);
// Whether every row that did not fail has samples_per_s.
[[nodiscard]] bool has_samples(std::span<const io::Json> rows);

} // namespace stepsim::study
