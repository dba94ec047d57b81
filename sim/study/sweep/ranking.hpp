#pragma once
// Chooses the best of several runs. If all runs process the same number of batches per iteration
// (one per worker and micro-batch) of the same size, the shortest iteration is best. If the number
// or the size varies, the highest number of samples per second of all workers is best, because the
// shortest iteration would mostly be the one with the fewest workers. A run that needs more memory
// than a device has is never best.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/words.hpp"
#include "document/json.hpp"
#include "study/sweep/standings.hpp"
#include "study/sweep/sweep_file.hpp"

namespace stepsim::study {

// The criterion: least seconds per iteration, most samples per second, or most speed-up per worker.
enum class BestBy { iteration_time, throughput, efficiency };
inline constexpr auto kBestBy = base::words<BestBy>({{BestBy::iteration_time, "iteration_time"},
                                                     {BestBy::throughput, "throughput"},
                                                     {BestBy::efficiency, "efficiency"}});

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
  // conditions, and where the best is that of efficiency.
  std::vector<Standing> standings;
};

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
