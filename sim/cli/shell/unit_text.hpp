#pragma once
// Values of a key as text: columns in one unit ("bandwidth [Gb/s]", "iteration_time [ms]"), and
// single values in a suitable unit ("54.6649 Gb/s", "5 us"). The suffix of the key gives the
// quantity.

#include "base/quantity.hpp"
#include "cli/shell/document.hpp"

namespace stepsim::cli {

struct ColumnUnit {
  std::string heading;
  double factor = 1; // from SI to the unit of the heading
};
// `key`: last token of a pointer, or a key of the summary.
[[nodiscard]] ColumnUnit column_unit(std::string_view key);
// The same for a varied field, named by its key or its pointer: times are in us, rates of computing
// have a unit, too. Counts, ratios and words have none. A field whose `largest` value would be
// shown as less than 0.001 keeps its key and its own unit.
[[nodiscard]] ColumnUnit field_unit(std::string_view field, double largest = 0);
// The quantity that a key measures by its ending; empty for a key without a unit, and for a
// throughput such as samples_per_s, which ends like a time.
[[nodiscard]] std::optional<base::QuantityKind> quantity_of(std::string_view key);

// The value with its unit and at most `digits` significant digits.
[[nodiscard]] std::string value_text(std::string_view key, double value, int digits = 6);
// Two different values, with as many digits as are needed to tell them apart.
[[nodiscard]] std::pair<std::string, std::string> distinct_texts(std::string_view key, double a,
                                                                 double b);

// Adds a column of values of one key with four digits: in the unit of the heading if that is
// readable for all of them, else each value with its own unit. Integers without a unit are written
// in full, texts as they are, null and everything else as "-".
void add_value_column(Table& table, std::string_view key, std::span<const io::Json> values);

} // namespace stepsim::cli
