#pragma once
// Values of a key for people: columns in one unit ("bandwidth [Gb/s]", "iteration_time [ms]"), and
// single values with the unit that fits ("54.6649 Gb/s", "5 us"). The key's suffix tells the unit.
#include <string>
#include <string_view>

namespace stepsim::cli {

struct ColumnUnit {
  std::string heading;
  double factor = 1; // from SI to the unit of the heading
};
// `key`: last token of a pointer, or a key of the summary.
[[nodiscard]] ColumnUnit column_unit(std::string_view key);

// At most 6 significant digits.
[[nodiscard]] std::string value_text(std::string_view key, double value);

} // namespace stepsim::cli
