#pragma once
// Orders of steps that are stated or withheld (CON 4). Under typical conditions the times of two
// runs share most of what is not known of a site: the difference between them is far surer than
// either time. A step is shorter than another for sure where the difference is more than what
// remains of its spread, and more than 5 %.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "document/json.hpp"
#include "run/summary.hpp"

namespace stepsim::study {

// Logarithm of the time of x over that of y: its value, its standard deviation between sites, and
// the factor that contributes most to it ("rest": what differs between equal runs).
struct PairedDifference {
  double value{};
  double deviation{};
  std::string largest;
  [[nodiscard]] bool is_stated() const;
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

} // namespace stepsim::study
