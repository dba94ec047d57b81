#pragma once
// Records of `stepsim collective` that follow those of the grid points: sizes at which another
// algorithm becomes the fastest (--crossovers), and the sum over several --op.
#include <cstdint>
#include <optional>
#include <vector>

#include "cli/collective/collective_grid.hpp"
#include "coll/record.hpp"
#include "json/json.hpp"

namespace stepsim::cli {

// Times of one record, or of the operations of a grid point added up; null where one is missing.
struct Times {
  std::optional<double> closed_form_s, max_plus_s, events_s;
  double seconds{};

  void add(const Times& other) {
    const auto sum = [](const std::optional<double>& a, const std::optional<double>& b) {
      return a && b ? std::optional(*a + *b) : std::nullopt;
    };
    closed_form_s = sum(closed_form_s, other.closed_form_s);
    max_plus_s = sum(max_plus_s, other.max_plus_s);
    events_s = sum(events_s, other.events_s);
    seconds += other.seconds;
  }
};

// The times of a record, without what only the record needs, so that sums can be made at the end of
// a large grid.
[[nodiscard]] Times times_of(const coll::CollectiveRecord& record);

// Rates as typed, in a record of the grid point: 1 / (1 / rate) may differ in the last digit.
void set_typed_rates(const CollectiveGrid& grid, std::int64_t point, io::Json& tree);
// Appends a record per crossover of the algorithms of the grid. Throws UsageError for fewer than
// two algorithms, or for one size of the message.
void add_crossovers(const CollectiveGrid& grid, std::vector<io::Json>& records);
// Appends, where the grid has several operations, the sum of their `times` for every other point.
void add_sums(const CollectiveGrid& grid, const std::vector<Times>& times,
              std::vector<io::Json>& records);

} // namespace stepsim::cli
